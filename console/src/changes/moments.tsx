import { Button, Input } from 'antd';
import { useEffect, useId, useState } from 'react';
import { useTexts } from '../language.ts';
import { momentOf } from '../ui/change.tsx';
import { useNotices } from '../ui/notices.ts';
import { differenceTexts } from './texts.ts';

interface Props {
  from: string;
  /** null: now. */
  to: string | null;
  show: (moments: { from: string; to: string | null }) => void;
}

export const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** As the browser's field wants it, in the reader's own zone. */
const asTyped = (moment: string | null) =>
  moment && !Number.isNaN(Date.parse(moment)) ? momentOf(moment).replace(' ', 'T') : '';

export function Moments({ from, to, show }: Props) {
  const t = useTexts(differenceTexts);
  const notices = useNotices();
  const periods: [string, number][] = [
    [t.day, 1],
    [t.week, 7],
    [t.month, 30],
  ];
  const copy = () =>
    navigator.clipboard?.writeText(linkOf(from, to)).then(() => notices.done(t.copied), notices.failed);
  return (
    <fieldset className="changes-moments" aria-label={t.moments}>
      <MomentField label={t.from} value={from} choose={(chosen) => chosen && show({ from: chosen, to })} />
      <MomentField label={t.to} hint={t.now} value={to} choose={(chosen) => show({ from, to: chosen })} />
      <fieldset className="page-actions" aria-label={t.presets}>
        {periods.map(([name, days]) => (
          <Button key={days} onClick={() => show({ from: daysAgo(days), to: null })}>
            {name}
          </Button>
        ))}
        {'clipboard' in navigator && (
          <Button type="text" onClick={copy}>
            {t.copy}
          </Button>
        )}
      </fieldset>
    </fieldset>
  );
}

/** Whoever opens it sees the same: what ends now ends at that moment. */
const linkOf = (from: string, to: string | null) =>
  `${window.location.origin}/changes/diff?${new URLSearchParams({ from, to: to ?? new Date().toISOString() })}`;

interface Field {
  label: string;
  hint?: string;
  value: string | null;
  choose: (moment: string | null) => void;
}

/** Taken when it is left or confirmed: while somebody types a year, it is many years. */
function MomentField({ label, hint, value, choose }: Field) {
  const id = useId();
  const [typed, setTyped] = useState(asTyped(value));
  useEffect(() => setTyped(asTyped(value)), [value]);
  const take = () => {
    if (typed === asTyped(value)) return;
    const moment = new Date(typed);
    choose(typed === '' || Number.isNaN(moment.getTime()) ? null : moment.toISOString());
  };
  return (
    <div className="changes-moment">
      <label htmlFor={id}>
        {label}
        {hint && <span className="quiet"> ({hint})</span>}
      </label>
      <Input
        id={id}
        type="datetime-local"
        step={1}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={take}
        onPressEnter={take}
      />
    </div>
  );
}
