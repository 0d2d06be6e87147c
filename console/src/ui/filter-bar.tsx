import type { ReactNode } from 'react';

/** The row of filters above a list. `<search>` is the landmark for it. */
export function FilterBar({ className, children }: { className?: string; children: ReactNode }) {
  return <search className={className ? `filter-bar ${className}` : 'filter-bar'}>{children}</search>;
}
