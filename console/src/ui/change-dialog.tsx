import { Alert } from 'antd';
import type { ReactNode } from 'react';
import type { AuditEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { ChangeSummary } from './change-summary.tsx';
import { changeTexts } from './change-texts.ts';
import { Dialog } from './dialog.tsx';
import { getErrorMessage } from './use-notify.ts';

interface Props {
  change: AuditEntry;
  open: boolean;
  title: string;
  okText: string;
  /** What happens on confirmation. */
  hint: ReactNode;
  danger?: boolean;
  isPending: boolean;
  error: unknown;
  onOk: () => void;
  onClose: () => void;
  /** Shown below the error. */
  children?: ReactNode;
}

/** Asks for confirmation before a change is reverted or its record restored, and shows the error if that fails. */
export function ChangeDialog({ change, hint, danger = false, isPending, error, onClose, children, ...props }: Props) {
  const t = useTexts(changeTexts);
  return (
    <Dialog
      {...props}
      okButtonProps={{ danger }}
      cancelText={error ? t.close : t.cancel}
      // A running request cannot be cancelled. antd keeps the dialog open while it is loading.
      cancelButtonProps={{ disabled: isPending }}
      confirmLoading={isPending}
      onCancel={onClose}
    >
      <ChangeSummary change={change} />
      <p>{hint}</p>
      {error != null && (
        <Alert type="error" showIcon role="alert" title={getErrorMessage(error)} className="margin-bottom" />
      )}
      {children}
    </Dialog>
  );
}
