import type { SyntheticEvent } from 'react';

/**
 * The onClick of a menu item that opens a dialog. Prevents the default action of the key press: otherwise the same
 * press of Enter would also activate the element that gets the focus in the dialog.
 */
export const openFromMenu =
  (open: () => void) =>
  ({ domEvent }: { domEvent: SyntheticEvent }) => {
    domEvent.preventDefault();
    open();
  };
