import { Alert, Button } from 'antd';
import { useState } from 'react';
import type { AuditEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { ChangeSummary } from '../ui/change-summary.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { isRestorable, restoreRecord } from '../ui/restore-record.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { getErrorMessage } from '../ui/use-notify.ts';
import { changesTexts } from './texts.ts';

/** Restores one deleted record. A revert would restore everything that the same operation has deleted. */
export function RestoreButton({ change }: { change: AuditEntry }) {
  const t = useTexts(changesTexts);
  const ownTenantId = useMe().tenant.tenantId;
  const [open, setOpen] = useState(false);
  const restore = useApiMutation({
    mutationFn: () => restoreRecord(change, ownTenantId),
    successMessage: t.restored,
    invalidates: affectedBy.revert,
    onSuccess: () => setOpen(false),
    // The error is shown in the dialog.
    onError: () => true,
  });
  if (!isRestorable(change)) return null;
  const close = () => {
    setOpen(false);
    restore.reset();
  };
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        {t.restore}
      </Button>
      <Dialog
        open={open}
        title={t.restoreTitle}
        okText={t.restoreConfirm}
        cancelText={restore.error ? t.close : t.cancel}
        // A running request cannot be cancelled. antd keeps the dialog open while it is loading.
        cancelButtonProps={{ disabled: restore.isPending }}
        confirmLoading={restore.isPending}
        onOk={() => restore.mutate()}
        onCancel={close}
      >
        <ChangeSummary change={change} />
        <p>{t.restoreHint}</p>
        {restore.error != null && (
          <Alert type="error" showIcon role="alert" title={getErrorMessage(restore.error)} className="margin-bottom" />
        )}
      </Dialog>
    </>
  );
}
