import dayjs from 'dayjs';

/** How a tenant stands in its period of service. Days are calendar days; the last one is included. */
export type Standing = 'waiting' | 'running' | 'soon' | 'ended' | 'endless';

export const SOON = 60;

export const today = () => dayjs().format('YYYY-MM-DD');

export const inDays = (days: number) => dayjs().add(days, 'day').format('YYYY-MM-DD');

/** 0: today is the last day; negative: so many days ago. */
export const daysUntil = (date: string, from = today()) => dayjs(date).diff(dayjs(from), 'day');

export function standingOf({ startTime, endTime }: Period, from = today()): Standing {
  if (endTime && endTime < from) return 'ended';
  if (startTime && startTime > from) return 'waiting';
  if (!endTime) return 'endless';
  return daysUntil(endTime, from) <= SOON ? 'soon' : 'running';
}

export interface Period {
  startTime: string | null;
  endTime: string | null;
}

export interface Span {
  from: string;
  to: string;
}

/** Where a period lies within a span, in percent; open and cut ends are told. Undefined: outside of it. */
export function placeOf({ startTime, endTime }: Period, { from, to }: Span) {
  if ((startTime && startTime > to) || (endTime && endTime < from)) return undefined;
  const left = startTime && startTime > from ? share(startTime, { from, to }) : 0;
  // Through the end of the last day.
  const right = endTime && endTime < to ? share(dayjs(endTime).add(1, 'day').format('YYYY-MM-DD'), { from, to }) : 100;
  return {
    left,
    width: Math.max(right - left, 0.6),
    openLeft: !startTime || startTime < from,
    openRight: !endTime || endTime > to,
  };
}

export const share = (date: string, { from, to }: Span) =>
  (100 * dayjs(date).diff(dayjs(from), 'day')) / Math.max(dayjs(to).diff(dayjs(from), 'day'), 1);

/** For one tenant: its period, today, and a little air. */
export function spanOf({ startTime, endTime }: Period): Span {
  const now = today();
  const first = [startTime ?? now, now].sort()[0] as string;
  const last = [endTime ?? dayjs(now).add(1, 'year').format('YYYY-MM-DD'), now].sort()[1] as string;
  const air = Math.max(Math.round(dayjs(last).diff(first, 'day') * 0.04), 10);
  return {
    from: dayjs(first).subtract(air, 'day').format('YYYY-MM-DD'),
    to: dayjs(last).add(air, 'day').format('YYYY-MM-DD'),
  };
}
