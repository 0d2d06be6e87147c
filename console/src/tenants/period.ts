import dayjs from 'dayjs';

/** The state of a tenant's service period. Days are calendar days; the last day is inclusive. */
type PeriodState = 'upcoming' | 'running' | 'expiring' | 'ended' | 'endless';

/** A period that ends within this many days is `expiring`. */
export const EXPIRING_DAYS = 60;

export const today = () => dayjs().format('YYYY-MM-DD');

export const daysFromNow = (days: number) => dayjs().add(days, 'day').format('YYYY-MM-DD');

/** 0 if the date is today, negative if it is in the past. */
export const daysUntil = (date: string, from = today()) => dayjs(date).diff(dayjs(from), 'day');

export function getPeriodState({ startTime, endTime }: Period, from = today()): PeriodState {
  if (endTime && endTime < from) return 'ended';
  if (startTime && startTime > from) return 'upcoming';
  if (!endTime) return 'endless';
  return daysUntil(endTime, from) <= EXPIRING_DAYS ? 'expiring' : 'running';
}

/** The state of a tenant: disabled, or the state of its service period. */
export type ServiceState = PeriodState | 'disabled';

export const getServiceState = (tenant: Period & { status: '0' | '1' }): ServiceState =>
  tenant.status === '1' ? 'disabled' : getPeriodState(tenant);

export interface Period {
  startTime: string | null;
  endTime: string | null;
}

export interface Span {
  from: string;
  to: string;
}

/** The position of a period within a span, in percent; undefined if it is outside. */
export function getBarPosition({ startTime, endTime }: Period, { from, to }: Span) {
  if ((startTime && startTime > to) || (endTime && endTime < from)) return undefined;
  const left = startTime && startTime > from ? toPercent(startTime, { from, to }) : 0;
  // The last day is inclusive.
  const right =
    endTime && endTime < to ? toPercent(dayjs(endTime).add(1, 'day').format('YYYY-MM-DD'), { from, to }) : 100;
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
