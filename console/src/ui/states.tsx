import { Empty as AntEmpty, Button, Spin } from 'antd';
import type { ReactNode } from 'react';
import { useRouteError } from 'react-router';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { wordsFor } from './notices.ts';
import { uiTexts } from './texts.ts';

export function Loading() {
  const t = useTexts(uiTexts);
  return (
    <div className="state" role="status" aria-label={t.loading}>
      <Spin delay={150} />
    </div>
  );
}

/** Something could not be read: why, and another try. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useTexts(uiTexts);
  return (
    <div className="state" role="alert">
      <p className="state-title">{t.failed}</p>
      <p>{wordsFor(error)}</p>
      {retry && <Button onClick={retry}>{t.retry}</Button>}
    </div>
  );
}

/** Nothing there, and what one can do about it. */
export function Empty({ text, children }: { text?: string; children?: ReactNode }) {
  const t = useTexts(uiTexts);
  return (
    <AntEmpty className="state" image={AntEmpty.PRESENTED_IMAGE_SIMPLE} description={text ?? t.empty}>
      {children}
    </AntEmpty>
  );
}

/** A screen threw. The rest of the console stands. */
export function Broken() {
  const t = useTexts(uiTexts);
  console.error(useRouteError());
  return (
    <div className="state" role="alert">
      <p className="state-title">{t.broken}</p>
      <p>{t.brokenHint}</p>
      <Button onClick={() => window.location.reload()}>{t.reload}</Button>
    </div>
  );
}

export function ForAdministrators({ children }: { children: ReactNode }) {
  const t = useTexts(uiTexts);
  return useIsAdministrator() ? children : <Empty text={t.administratorsOnly} />;
}
