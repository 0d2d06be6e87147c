import { useState } from 'react';

/** What a dialog is about stays until it has faded out, so that the focus goes back to where it came from. */
export function useDialog<T>() {
  const [about, setAbout] = useState<T>();
  const [open, setOpen] = useState(false);
  return {
    about,
    open,
    show(about: T) {
      setAbout(about);
      setOpen(true);
    },
    close: () => setOpen(false),
    gone: () => setAbout(undefined),
  };
}

/** What every dialog of this screen is given. */
export interface DialogProps {
  open: boolean;
  close: () => void;
  gone: () => void;
}
