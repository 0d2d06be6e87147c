import { UndoOutlined } from '@ant-design/icons';
import { Alert, Button } from 'antd';
import { useState } from 'react';
import { Link } from 'react-router';
import { type AuditEntry, api } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { ChangeSummary } from './change-summary.tsx';
import { changeTexts } from './change-texts.ts';
import { Dialog } from './dialog.tsx';
import { reloadTrees } from './tree-reloads.ts';
import { useApiMutation } from './use-api-mutation.ts';
import { getErrorMessage } from './use-notify.ts';

const REVERTIBLE = ['department', 'user', 'tenant'];

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
  if (!REVERTIBLE.includes(resource) || change.action === 'password changed' || isOwnTenant) return null;
  const close = () => {
    setOpen(false);
    revert.reset();
  };
  return (
    <>
      <Button size="small" icon={<UndoOutlined />} aria-describedby={describedBy} onClick={() => setOpen(true)}>
        {t.revert}
      </Button>
      <Dialog
        open={open}
        title={t.revertTitle}
        okText={t.revertConfirm}
        cancelText={revert.error ? t.close : t.cancel}
        // A running request cannot be cancelled. antd keeps the dialog open while it is loading.
        cancelButtonProps={{ disabled: revert.isPending }}
        confirmLoading={revert.isPending}
        onOk={() => revert.mutate()}
        onCancel={close}
      >
        <ChangeSummary change={change} />
        <p>{t.revertHint}</p>
        {revert.error != null && (
          <Alert type="error" showIcon role="alert" title={getErrorMessage(revert.error)} className="margin-bottom" />
        )}
        {isApiError(revert.error, 'CHANGE_CONTRADICTED') && (
          <Link
            to={`/changes?resource=${resource}&resourceId=${resourceId}${otherTenant ? `&tenant=${tenantId}` : ''}`}
            onClick={close}
          >
            {t.viewLaterChanges}
          </Link>
        )}
      </Dialog>
    </>
  );
}
