import { App } from 'antd';
import { type RefObject, useEffect, useRef } from 'react';
import { useTexts } from '../language.ts';
import { leaveTexts } from './leave-texts.ts';

/** Lets the dialog check for unsaved changes before it closes. */
export interface FormHandle {
  isDirty: () => boolean;
  discardDraft: () => void;
  isPending: boolean;
}

/** For a dialog with a form: `cancel` asks before unsaved changes are discarded. The form fills in the handle. */
export function useFormDialog(onClose: () => void) {
  const t = useTexts(leaveTexts);
  const { modal } = App.useApp();
  // Empty while the dialog shows something other than the form.
  const handle = useRef<FormHandle>(undefined);
  const cancel = () => {
    // The request cannot be cancelled, and the user would not learn that it was saved.
    if (handle.current?.isPending) return;
    if (!handle.current?.isDirty()) return onClose();
    modal.confirm({
      title: t.discardTitle,
      content: t.discardHint,
      okText: t.discard,
      cancelText: t.keepEditing,
      okButtonProps: { danger: true },
      focusable: { autoFocusButton: 'cancel' },
      onOk: () => {
        if (handle.current?.isPending) return;
        handle.current?.discardDraft();
        onClose();
      },
    });
  };
  return { handle, cancel };
}

/** Fills in the handle of the dialog while the form is mounted. */
export function useFormHandle(handle: RefObject<FormHandle | undefined>, current: FormHandle): void {
  useEffect(() => {
    handle.current = current;
    return () => {
      handle.current = undefined;
    };
  });
}
