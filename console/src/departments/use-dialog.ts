import { useState } from 'react';

/** The state of a dialog. Its subject stays until the closing animation ends, so that antd can restore the focus. */
export function useDialog<T>() {
  const [subject, setSubject] = useState<T>();
  const [open, setOpen] = useState(false);
  return {
    subject,
    open,
    show(subject: T) {
      setSubject(subject);
      setOpen(true);
    },
    onClose: () => setOpen(false),
    onClosed: () => setSubject(undefined),
  };
}

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  /** Called after the closing animation. */
  onClosed: () => void;
}
