import { Empty as AntEmpty, Button, Spin } from 'antd';
import type { ReactNode } from 'react';
import { useRouteError } from 'react-router';
import { useTexts } from '../language.ts';
import { uiTexts } from './texts.ts';
import { getErrorMessage } from './use-notify.ts';

export function Loading() {
  const t = useTexts(uiTexts);
  return (
    <div className="state" role="status" aria-label={t.loading}>
      <Spin delay={150} />
    </div>
  );
}

export function LoadError({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useTexts(uiTexts);
  return (
    <div className="state" role="alert">
      <p className="state-title">{t.loadFailed}</p>
      <p>{getErrorMessage(error)}</p>
      {onRetry && <Button onClick={onRetry}>{t.retry}</Button>}
    </div>
  );
}

/** The children are buttons or links that help the user to continue. */
export function Empty({ text, children }: { text?: string; children?: ReactNode }) {
  const t = useTexts(uiTexts);
  return (
    <AntEmpty className="state" image={AntEmpty.PRESENTED_IMAGE_SIMPLE} description={text ?? t.empty}>
      {children}
    </AntEmpty>
  );
}

/** The error boundary of a route: shown in place of a screen that threw an error. */
export function ScreenError() {
  const t = useTexts(uiTexts);
  console.error(useRouteError());
  return (
    <div className="state" role="alert">
      <p className="state-title">{t.screenFailed}</p>
      <p>{t.screenFailedHint}</p>
      <Button onClick={() => window.location.reload()}>{t.reload}</Button>
    </div>
  );
}
