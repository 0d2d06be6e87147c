import { App } from 'antd';
import { useMemo } from 'react';
import { ApiError, NetworkError } from '../http.ts';
import { getTexts } from '../language.ts';
import { uiTexts } from './texts.ts';

/** The message of the service if there is one, otherwise a generic one. */
export function getErrorMessage(error: unknown): string {
  if (error instanceof ApiError && error.message) return error.message;
  const t = getTexts(uiTexts);
  return error instanceof NetworkError ? t.noResponse : t.unexpectedError;
}

/** Success and error notifications. Screen readers announce both. */
export function useNotify() {
  const { message, notification } = App.useApp();
  return useMemo(
    () => ({
      success: (text: string) => void message.success(text),
      error: (error: unknown) => {
        // SESSION_ENDED has no message: the user has logged out and knows it.
        if (error instanceof ApiError && !error.message) return;
        if (!(error instanceof ApiError || error instanceof NetworkError)) console.error(error);
        notification.error({ title: getErrorMessage(error), duration: 8, role: 'alert' });
      },
    }),
    [message, notification],
  );
}
