import { UndoOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { api, type Id } from '../api.ts';
import { ApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useIsAdministrator, useMe } from '../session.ts';
import { DeletedBy, getResourceName } from './change-summary.tsx';
import { FocusFirstField } from './dialog.tsx';
import type { Restorable } from './restore-record.ts';
import { LoadError, Loading } from './states.tsx';
import { uiTexts } from './texts.ts';
import { reloadTrees } from './tree-reloads.ts';
import { getErrorMessage } from './use-notify.ts';
import { useRestore } from './use-restore.tsx';

interface Props {
  resource: Restorable;
  id: Id;
  /** The tenant of the record. Default: the user's own. */
  tenantId?: string | undefined;
  /** The error of the failed attempt to read the record. */
  error: unknown;
  onRetry?: () => void;
  /** Links that help the user to continue. */
  children?: ReactNode;
}

/** Shown in place of a record that cannot be read: says who deleted it, links to its history and offers to restore it. */
export function DeletedRecord({ resource, id, tenantId, error, onRetry, children }: Props) {
  const t = useTexts(uiTexts);
  const ownTenantId = useMe().tenant.tenantId;
  const isMissing = error instanceof ApiError && error.status === 404;
  const filter = {
    resource,
    resourceId: String(id),
    action: 'deleted',
    latest: true,
    below: false,
    limit: 1,
    // For a deleted tenant, no `tenantId` is given: the ledgers of its ancestors have the changes of its record.
    ...(tenantId && tenantId !== ownTenantId ? { tenantId } : {}),
  };
  const enabled = useIsAdministrator() && isMissing;
  const [isRestored, setRestored] = useState(false);
  const deletion = useQuery({
    queryKey: queryKeys.changes.list(filter),
    queryFn: ({ signal }) => api.listChanges(filter, signal),
    enabled,
    staleTime: 0,
  });
  const [change] = deletion.data?.data.rows ?? [];
  const name = (change && getResourceName(change)) || `#${id}`;
  const { restore, isPending, dialog } = useRestore({
    record: { resource, resourceId: String(id), tenantId: tenantId ?? ownTenantId },
    name,
    successMessage: t.restored,
    onSuccess: () => {
      setRestored(true);
      reloadTrees('all');
    },
  });
  // Once the record has been restored, the page reads it again and replaces this.
  if ((isRestored && isMissing) || (enabled && deletion.isPending)) return <Loading />;
  if (!change && !children)
    return (
      <>
        <LoadError error={error} {...(onRetry ? { onRetry } : {})} />
        <FocusFirstField />
      </>
    );
  if (!change)
    return (
      <div className="state" role="alert">
        <p className="state-title">{getErrorMessage(error)}</p>
        {children}
      </div>
    );
  const scope = filter.tenantId ? `&tenant=${filter.tenantId}` : '';
  return (
    <div className="state" role="alert">
      <p className="state-title">{t.wasDeleted(name)}</p>
      <p>
        <DeletedBy change={change} />
      </p>
      <div className="form-actions state-actions">
        <Button type="primary" icon={<UndoOutlined />} loading={isPending} onClick={restore}>
          {t.restore}
        </Button>
        <Link to={`/changes?resource=${resource}&resourceId=${id}${scope}`}>{t.history}</Link>
        {children}
      </div>
      <FocusFirstField />
      {dialog}
    </div>
  );
}
