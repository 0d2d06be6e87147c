import type { ReactNode } from 'react';

interface Props {
  /** Text becomes the h2 of the card. */
  title?: ReactNode;
  extra?: ReactNode;
  className?: string;
  role?: string;
  'aria-label'?: string;
  children: ReactNode;
}

/** The card of all screens. antd's Card would add its tabs and menus to the scripts of the first page load. */
export function Card({ title, extra, className, children, ...attributes }: Props) {
  return (
    <section className={className ? `card ${className}` : 'card'} {...attributes}>
      {(title || extra) && (
        <header>
          {typeof title === 'string' ? <h2>{title}</h2> : title}
          {extra && <div className="card-extra">{extra}</div>}
        </header>
      )}
      {children}
    </section>
  );
}
