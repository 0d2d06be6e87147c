import { Suspense, useRef, useState } from 'react';
import type { AuditEntry } from '../api.ts';
import { isApiError } from '../http.ts';
import { lazyComponent } from '../lazy-component.ts';
import { affectedBy } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { restoreFocus } from './restore-focus.ts';
import { restoreRecord } from './restore-record.ts';
import { useApiMutation } from './use-api-mutation.ts';

// Loaded when it is needed, with the department picker.
const RestoreDialog = lazyComponent(() => import('./restore-dialog.tsx'));

interface Options {
  record: Pick<AuditEntry, 'resource' | 'resourceId' | 'tenantId'>;
  name: string;
  successMessage: string;
  onSuccess?: () => void;
  /** Returns true if it has handled the error. */
  onError?: (error: unknown) => boolean;
}

/**
 * Restores one deleted record. If the parent of a department is deleted or disabled, `dialog` asks for another one: it has to
 * be rendered.
 */
export function useRestore({ record, name, successMessage, onSuccess, onError }: Options) {
  const ownTenantId = useMe().tenant.tenantId;
  const [reason, setReason] = useState<'deleted' | 'disabled'>();
  const [open, setOpen] = useState(false);
  const opener = useRef<Element>(null);
  const restore = useApiMutation<number | undefined>({
    mutationFn: (parentId) => restoreRecord(record, ownTenantId, parentId),
    successMessage,
    invalidates: affectedBy.revert,
    onSuccess: () => {
      setOpen(false);
      onSuccess?.();
    },
    onError: (error, parentId) => {
      const isGone = isApiError(error, 'PARENT_GONE');
      // The dialog covers the place where the caller shows an error, so the error is shown in a notification.
      if (parentId !== undefined) return false;
      if (!(isGone || isApiError(error, 'PARENT_DISABLED'))) return onError?.(error) ?? false;
      opener.current = document.activeElement;
      setReason(isGone ? 'deleted' : 'disabled');
      setOpen(true);
      return true;
    },
  });
  const dialog = reason && (
    <Suspense>
      <RestoreDialog
        name={name}
        reason={reason}
        ownTenant={record.tenantId === ownTenantId}
        open={open}
        isPending={restore.isPending}
        onRestore={restore.mutate}
        onClose={() => setOpen(false)}
        onClosed={() => {
          setReason(undefined);
          restoreFocus(opener.current as HTMLElement | null);
        }}
      />
    </Suspense>
  );
  return { ...restore, restore: () => restore.mutate(undefined), dialog };
}
