import { Button, DatePicker } from 'antd';
import dayjs from 'dayjs';
import { useId } from 'react';
import { useTexts } from '../language.ts';
import { useCopy } from '../ui/use-copy.ts';
import { useDayjs } from '../ui/use-dayjs.ts';
import { diffTexts } from './texts.ts';

interface Props {
  from: string;
  /** Null stands for now. */
  to: string | null;
  onChange: (period: { from?: string; to?: string | null }) => void;
}

export const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

export function PeriodPicker({ from, to, onChange }: Props) {
  const t = useTexts(diffTexts);
  const copy = useCopy();
  const presets: [string, number][] = [
    [t.day, 1],
    [t.week, 7],
    [t.month, 30],
  ];
  return (
    <fieldset className="changes-period" aria-label={t.period}>
      <DateTimeField label={t.from} value={from} onChange={(value) => value && onChange({ from: value })} />
      <DateTimeField label={t.to} emptyText={t.now} value={to} onChange={(value) => onChange({ to: value })} />
      <fieldset className="page-actions" aria-label={t.presets}>
        {presets.map(([name, days]) => (
          <Button key={days} onClick={() => onChange({ from: daysAgo(days), to: null })}>
            {name}
          </Button>
        ))}
        <Button type="text" onClick={() => copy(shareableLink(from, to), t.copied)}>
          {t.copy}
        </Button>
      </fieldset>
    </fieldset>
  );
}

/** Replaces "now" with the current time, so that everybody who opens the link sees the same comparison. */
const shareableLink = (from: string, to: string | null) =>
  `${window.location.origin}/changes/diff?${new URLSearchParams({ from, to: to ?? new Date().toISOString() })}`;

interface FieldProps {
  label: string;
  /** Shown for an empty value. Without it the field cannot be cleared. */
  emptyText?: string;
  value: string | null;
  onChange: (value: string | null) => void;
}

function DateTimeField({ label, emptyText, value, onChange }: FieldProps) {
  const id = useId();
  const date = useDayjs(value);
  return (
    <div className="changes-period-field">
      <label htmlFor={id}>{label}</label>
      <DatePicker
        id={id}
        showTime
        value={date}
        maxDate={dayjs()}
        allowClear={emptyText !== undefined}
        placeholder={emptyText ?? label}
        onChange={(selected) => onChange(selected?.toISOString() ?? null)}
      />
    </div>
  );
}
