import { App } from 'antd';
import { useMemo } from 'react';
import { ApiOffline, ApiRefusal } from '../http.ts';
import { textsNow } from '../language.ts';
import { uiTexts } from './texts.ts';

/** The service's own words where it said any. */
export function wordsFor(error: unknown): string {
  if (error instanceof ApiRefusal && error.message) return error.message;
  const t = textsNow(uiTexts);
  return error instanceof ApiOffline ? t.noAnswer : t.unexpected;
}

/** What is said beside the page: that something was done, or why not. Both are read out to who cannot see them. */
export function useNotices() {
  const { message, notification } = App.useApp();
  return useMemo(
    () => ({
      done: (text: string) => void message.success(text),
      failed: (error: unknown) => {
        // Somebody left instead of logging in again: he knows.
        if (error instanceof ApiRefusal && !error.message) return;
        if (!(error instanceof ApiRefusal || error instanceof ApiOffline)) console.error(error);
        notification.error({ title: wordsFor(error), duration: 8, role: 'alert' });
      },
    }),
    [message, notification],
  );
}
