import { Button } from 'antd';
import { useState } from 'react';
import type { AuditEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { ChangeDialog } from '../ui/change-dialog.tsx';
import { getResourceName } from '../ui/change-summary.tsx';
import { isRestorable } from '../ui/restore-record.ts';
import { useRestore } from '../ui/use-restore.tsx';
import { changesTexts } from './texts.ts';

/**
 * Restores one deleted record; with a department, also the departments below that were deleted with it. A revert would
 * restore everything that the same request has deleted.
 */
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
      <ChangeDialog
        change={change}
        open={open}
        title={t.restoreTitle}
        okText={t.restoreConfirm}
        hint={t.restoreHint}
        isPending={isPending}
        error={error}
        onOk={restore}
        onClose={close}
      />
      {dialog}
    </>
  );
}
