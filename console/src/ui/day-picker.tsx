import { DatePicker } from 'antd';
import dayjs, { type Dayjs } from 'dayjs';
import { useDayjs } from './use-dayjs.ts';

/** Screens that show a day of the past. Days are `YYYY-MM-DD`, in the time zone of the browser. */

const DAY_FORMAT = 'YYYY-MM-DD';
const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/;

export const formatDay = (time: Dayjs): string => time.format(DAY_FORMAT);
export const getToday = (): string => formatDay(dayjs());

/** Parses a day from the URL. Returns undefined if there is no such day, or if it is in the future. */
export function parseDay(text: string | null): string | undefined {
  // Without the comparison, the 31st of February would be a day of March.
  const isDay = text !== null && DAY_PATTERN.test(text) && formatDay(dayjs(text)) === text;
  return isDay && text <= getToday() ? text : undefined;
}

/** The end of a day, but not a time in the future. */
export function endOfDay(day: string): string {
  const end = dayjs(day).endOf('day');
  return (end.isAfter(dayjs()) ? dayjs() : end).toISOString();
}

interface Props {
  label: string;
  day: string | undefined;
  /** Null if the field was cleared. */
  onChange: (day: string | null) => void;
  /** Shown without a day. Without this text the field cannot be cleared. */
  emptyText?: string;
  className?: string;
}

/** Selects a day that is not in the future. */
export function DayPicker({ label, day, onChange, emptyText, ...props }: Props) {
  const date = useDayjs(day ?? null);
  return (
    <DatePicker
      {...props}
      aria-label={label}
      value={date}
      maxDate={dayjs()}
      allowClear={emptyText !== undefined}
      placeholder={emptyText ?? label}
      onChange={(selected) => onChange(selected ? formatDay(selected) : null)}
    />
  );
}
