/**
 * Returns the focus to the element that opened a dialog, or to the heading if that is no longer in the page, for example
 * because its record was deleted.
 */
export function restoreFocus(opener: HTMLElement | null | undefined): void {
  const element = opener?.isConnected ? opener : document.querySelector('h1');
  element?.focus({ preventScroll: true });
}
