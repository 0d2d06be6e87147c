import { useTexts } from '../language.ts';
import { importTexts } from './texts.ts';

const NAMES = ['created', 'changed', 'moved', 'unchanged', 'invalid'] as const;

interface Props {
  counts: Record<'rows' | Exclude<(typeof NAMES)[number], 'invalid'>, number> & { invalid?: number };
}

export function Counts({ counts }: Props) {
  const t = useTexts(importTexts);
  return (
    <ul className="import-counts">
      <li>{t.rows(counts.rows)}</li>
      {NAMES.filter((name) => counts[name]).map((name) => (
        <li key={name} className={name === 'invalid' ? 'import-error' : undefined}>
          {t[name]} <strong>{counts[name]}</strong>
        </li>
      ))}
    </ul>
  );
}
