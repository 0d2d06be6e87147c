import { type ReactNode, useEffect, useRef } from 'react';
import { useTexts } from '../language.ts';
import { uiTexts } from './texts.ts';

let opened = 0;

/**
 * The one h1 of a screen; also the title of the browser's tab. Who comes from another screen has the focus put here, so
 * that a screen reader says where one is and Tab goes on from the top.
 */
export function PageTitle({ title, children }: { title: string; children?: ReactNode }) {
  const t = useTexts(uiTexts);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${t.console}`;
  }, [title, t]);
  useEffect(() => {
    if (opened++ > 0) heading.current?.focus({ preventScroll: true });
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
