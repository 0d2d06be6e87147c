import type { ReactNode } from 'react';

interface Props {
  items: { label: string; value: ReactNode }[];
  className?: string;
}

/** Labels with their values, in as many columns as fit. Empty values are shown as a dash. */
export function DescriptionList({ items, className }: Props) {
  return (
    <dl className={className ? `description-list ${className}` : 'description-list'}>
      {items.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value === null || value === undefined || value === '' ? '—' : value}</dd>
        </div>
      ))}
    </dl>
  );
}
