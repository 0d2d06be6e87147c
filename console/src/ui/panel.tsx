import type { ReactNode } from 'react';

/** A framed part of a screen. antd's Card would bring its tabs and menus into the first view. */
export function Panel({ title, extra, children }: { title?: string; extra?: ReactNode; children: ReactNode }) {
  return (
    <section className="panel">
      {title && (
        <header>
          <h2>{title}</h2>
          {extra}
        </header>
      )}
      {children}
    </section>
  );
}
