import type { ReactNode } from 'react';
import { useTexts } from '../language.ts';
import { createTexts } from './create-texts.ts';

interface Props {
  title: string;
  open: boolean;
  onToggle: (open: boolean) => void;
  children: ReactNode;
}

/** Fields that most users leave empty. They are collapsed at first, but keep their values and are validated. */
export function OptionalSection({ title, open, onToggle, children }: Props) {
  const t = useTexts(createTexts);
  return (
    <details className="card tenants-optional" open={open} onToggle={(event) => onToggle(event.currentTarget.open)}>
      <summary>
        <h2>{title}</h2> <span className="secondary">{t.optional}</span>
      </summary>
      {children}
    </details>
  );
}
