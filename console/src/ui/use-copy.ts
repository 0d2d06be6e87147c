import { App } from 'antd';
import { useTexts } from '../language.ts';
import { uiTexts } from './texts.ts';

/** Returns a function that copies a text and says so. */
export function useCopy() {
  const { message } = App.useApp();
  const { copyFailed } = useTexts(uiTexts);
  return async (text: string, successMessage: string) => {
    try {
      // The Clipboard API is missing on insecure origins, such as plain HTTP in an intranet.
      if (navigator.clipboard) await navigator.clipboard.writeText(text);
      else copyWithSelection(text);
      void message.success(successMessage);
    } catch {
      void message.error(copyFailed);
    }
  };
}

function copyWithSelection(text: string): void {
  const textarea = document.createElement('textarea');
  textarea.value = text;
  const previousFocus = document.activeElement as HTMLElement | null;
  // Append it inside the dialog, because the dialog traps the focus.
  (previousFocus?.parentElement ?? document.body).append(textarea);
  textarea.select();
  const copied = document.execCommand('copy');
  textarea.remove();
  previousFocus?.focus();
  if (!copied) throw new Error('The browser did not copy the text.');
}
