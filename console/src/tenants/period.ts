import dayjs from 'dayjs';
import { addDays, type Period, today } from '../ui/tenant-period.ts';

export interface Span {
  from: string;
  to: string;
}

/** The position of a period within a span, in percent; undefined if it is outside. */
export function getBarPosition({ startTime, endTime }: Period, { from, to }: Span) {
  if ((startTime && startTime > to) || (endTime && endTime < from)) return undefined;
  const left = startTime && startTime > from ? toPercent(startTime, { from, to }) : 0;
  // The last day is inclusive.
  const right = endTime && endTime < to ? toPercent(addDays(endTime, 1), { from, to }) : 100;
  return {
    left,
    width: Math.max(right - left, 0.6),
    openLeft: !startTime || startTime < from,
    openRight: !endTime || endTime > to,
  };
}

export const toPercent = (date: string, { from, to }: Span) =>
  (100 * dayjs(date).diff(dayjs(from), 'day')) / Math.max(dayjs(to).diff(dayjs(from), 'day'), 1);

/** The span that shows one tenant's period and today, with some margin. */
export function getSpan({ startTime, endTime }: Period): Span {
  const now = today();
  const first = [startTime ?? now, now].sort()[0] as string;
  const last = [endTime ?? dayjs(now).add(1, 'year').format('YYYY-MM-DD'), now].sort()[1] as string;
  const margin = Math.max(Math.round(dayjs(last).diff(first, 'day') * 0.04), 10);
  return {
    from: dayjs(first).subtract(margin, 'day').format('YYYY-MM-DD'),
    to: dayjs(last).add(margin, 'day').format('YYYY-MM-DD'),
  };
}
