import type { ReactNode } from 'react';

/** A word about a thing's state. antd's coloured tags are too faint to read for many; these are not, light or dark. */
export function Mark({
  kind = 'plain',
  children,
}: {
  kind?: 'good' | 'warning' | 'bad' | 'plain';
  children: ReactNode;
}) {
  return <span className={`mark mark-${kind}`}>{children}</span>;
}
