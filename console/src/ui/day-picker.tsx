import { DatePicker } from 'antd';
import dayjs, { type Dayjs } from 'dayjs';
import { useDayjs } from './use-dayjs.ts';

/** For screens that show a day of the past. Days are `YYYY-MM-DD`, in the time zone of the browser. */

const DAY_FORMAT = 'YYYY-MM-DD';
const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/;

export const formatDay = (time: Dayjs): string => time.format(DAY_FORMAT);
export const getToday = (): string => formatDay(dayjs());

/** Reads a day of the URL. Returns undefined if it is not in the calendar. */
export function parseDay(text: string | null): string | undefined {
  // Without the comparison, the 31st of February would be a day of March.
  return text !== null && DAY_PATTERN.test(text) && formatDay(dayjs(text)) === text ? text : undefined;
}

/** The same for a day that must not be in the future. */
export function parsePastDay(text: string | null): string | undefined {
  const day = parseDay(text);
  return day && day <= getToday() ? day : undefined;
}

export const endOfDay = (day: string): string => dayjs(day).endOf('day').toISOString();

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
