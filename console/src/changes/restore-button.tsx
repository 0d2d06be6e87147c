import { Alert, Button } from 'antd';
import { useState } from 'react';
import type { AuditEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { ChangeSummary, getResourceName } from '../ui/change-summary.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { isRestorable } from '../ui/restore-record.ts';
import { getErrorMessage } from '../ui/use-notify.ts';
import { useRestore } from '../ui/use-restore.tsx';
import { changesTexts } from './texts.ts';

/** Restores one deleted record. A revert would restore everything that the same operation has deleted. */
export function RestoreButton({ change }: { change: AuditEntry }) {
  const t = useTexts(changesTexts);
  const [open, setOpen] = useState(false);
  const { restore, isPending, error, reset, dialog } = useRestore({
    record: change,
    name: getResourceName(change) || `#${change.resourceId}`,
    successMessage: t.restored,
    onSuccess: () => setOpen(false),
    // The error is shown in the dialog.
    onError: () => true,
  });
  if (!isRestorable(change)) return null;
  const close = () => {
    setOpen(false);
    reset();
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
        cancelText={error ? t.close : t.cancel}
        // A running request cannot be cancelled. antd keeps the dialog open while it is loading.
        cancelButtonProps={{ disabled: isPending }}
        confirmLoading={isPending}
        onOk={restore}
        onCancel={close}
      >
        <ChangeSummary change={change} />
        <p>{t.restoreHint}</p>
        {error != null && (
          <Alert type="error" showIcon role="alert" title={getErrorMessage(error)} className="margin-bottom" />
        )}
      </Dialog>
      {dialog}
    </>
  );
}
