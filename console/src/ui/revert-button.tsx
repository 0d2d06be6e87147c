import { UndoOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useState } from 'react';
import { Link } from 'react-router';
import { type AuditEntry, api } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { ChangeDialog } from './change-dialog.tsx';
import { changeTexts } from './change-texts.ts';
import { reloadTrees } from './tree-reloads.ts';
import { useApiMutation } from './use-api-mutation.ts';

const REVERTIBLE = ['department', 'user', 'tenant'];
/** Reverting one of these deletes the record. */
const DELETED_BY_REVERT = ['created', 'restored'];

/**
 * The service rejects these with CHANGE_IRREVERSIBLE: changes of passwords, and moves of tenants into or out of the subtree of the
 * tenant whose ledger has the change. Such a move has only one of `before` and `after`.
 */
const isIrreversible = ({ action, before, after }: AuditEntry) =>
  action === 'password changed' || (action === 'moved' && !(before && after));

interface Props {
  change: AuditEntry;
  /** The id of an element that tells the button from those of other changes. */
  describedBy?: string;
}

/** Reverts a change, with all others of the same request. Renders nothing for a change that cannot be reverted. */
export function RevertButton({ change, describedBy }: Props) {
  const t = useTexts(changeTexts);
  const own = useMe().tenant;
  const [open, setOpen] = useState(false);
  const { id, tenantId, resource, resourceId } = change;
  const otherTenant = tenantId !== own.tenantId;
  const revert = useApiMutation({
    mutationFn: () => api.revertChange(id, otherTenant ? { tenantId } : {}),
    successMessage: t.reverted,
    invalidates: affectedBy.revert,
    onSuccess: () => {
      setOpen(false);
      reloadTrees('all');
    },
    // The error is shown in the dialog.
    onError: () => true,
  });
  // Only administrators of a tenant above may change a tenant.
  const isOwnTenant = resource === 'tenant' && resourceId === own.id;
  if (!REVERTIBLE.includes(resource) || isIrreversible(change) || isOwnTenant) return null;
  const reverted = [change, ...(change.counts ?? [])].filter(({ action }) => DELETED_BY_REVERT.includes(action));
  const deletes = reverted.length > 0;
  const deletesTenant = reverted.some(({ resource }) => resource === 'tenant');
  const close = () => {
    setOpen(false);
    revert.reset();
  };
  return (
    <>
      <Button size="small" icon={<UndoOutlined />} aria-describedby={describedBy} onClick={() => setOpen(true)}>
        {t.revert}
      </Button>
      <ChangeDialog
        change={change}
        open={open}
        title={t.revertTitle}
        okText={t.revertConfirm}
        hint={deletesTenant ? t.revertTenantHint : t.revertHint}
        danger={deletes}
        isPending={revert.isPending}
        error={revert.error}
        onOk={() => revert.mutate()}
        onClose={close}
      >
        {isApiError(revert.error, 'CHANGE_CONTRADICTED') && (
          <Link
            to={`/changes?resource=${resource}&resourceId=${resourceId}${otherTenant ? `&tenant=${tenantId}` : ''}`}
            onClick={close}
          >
            {t.viewLaterChanges}
          </Link>
        )}
      </ChangeDialog>
    </>
  );
}
