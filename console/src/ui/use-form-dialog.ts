import { type RefObject, useEffect, useRef } from 'react';
import { useConfirmDiscard } from './use-confirm-discard.ts';

/** Lets the dialog check for unsaved changes before it closes. */
export interface FormHandle {
  isDirty: () => boolean;
  discardDraft: () => void;
  isPending: boolean;
}

/** For a dialog with a form: `cancel` asks before unsaved changes are discarded. The form fills in the handle. */
export function useFormDialog(onClose: () => void) {
  const confirmDiscard = useConfirmDiscard();
  // Empty while the dialog shows something other than the form.
  const handle = useRef<FormHandle>(undefined);
  const cancel = () => {
    // The request cannot be cancelled, and the user would not learn that it was saved.
    if (handle.current?.isPending) return;
    if (!handle.current?.isDirty()) return onClose();
    confirmDiscard(() => {
      if (handle.current?.isPending) return;
      handle.current?.discardDraft();
      onClose();
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
