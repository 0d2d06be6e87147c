import { type ReactNode, useEffect, useRef } from 'react';
import { useTexts } from '../language.ts';
import { uiTexts } from './texts.ts';

let titlesMounted = 0;

/**
 * The h1 of a screen and the title of the browser tab. After a navigation it takes the focus, so that screen readers
 * announce the new screen and Tab starts at its top.
 */
export function PageTitle({ title, children }: { title: string; children?: ReactNode }) {
  const t = useTexts(uiTexts);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${t.console}`;
  }, [title, t]);
  useEffect(() => {
    if (titlesMounted++ > 0) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className="page-title">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children && <div className="page-actions">{children}</div>}
    </div>
  );
}
