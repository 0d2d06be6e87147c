import type { SyntheticEvent } from 'react';

/**
 * For an item of a menu that opens a dialog: without it the same press of Enter goes on to what has the focus in the
 * dialog, its close button.
 */
export const inDialog =
  (open: () => void) =>
  ({ domEvent }: { domEvent: SyntheticEvent }) => {
    domEvent.preventDefault();
    open();
  };
