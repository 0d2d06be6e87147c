import { Button, DatePicker } from 'antd';
import dayjs from 'dayjs';
import { useId } from 'react';
import { useTexts } from '../language.ts';
import { useMoment } from '../ui/moment.ts';
import { useNotices } from '../ui/notices.ts';
import { differenceTexts } from './texts.ts';

interface Props {
  from: string;
  /** null: now. */
  to: string | null;
  show: (moments: { from?: string; to?: string | null }) => void;
}

export const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

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
      <MomentField label={t.from} value={from} choose={(chosen) => chosen && show({ from: chosen })} />
      <MomentField label={t.to} none={t.now} value={to} choose={(chosen) => show({ to: chosen })} />
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
  /** In place of a moment, where there needs be none. */
  none?: string;
  value: string | null;
  choose: (moment: string | null) => void;
}

function MomentField({ label, none, value, choose }: Field) {
  const id = useId();
  const moment = useMoment(value);
  return (
    <div className="changes-moment">
      <label htmlFor={id}>{label}</label>
      <DatePicker
        id={id}
        showTime
        value={moment}
        maxDate={dayjs()}
        allowClear={none !== undefined}
        placeholder={none ?? label}
        onChange={(chosen) => choose(chosen?.toISOString() ?? null)}
      />
    </div>
  );
}
