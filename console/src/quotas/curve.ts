import dayjs from 'dayjs';
import type { Quota, UsageSum } from '../api.ts';

export interface Point {
  date: string;
  /** What was used on that day. */
  amount: number;
  /** What was used by the end of that day, in its period. */
  used: number;
  /** Whether a period starts with this day. */
  startsPeriod: boolean;
}

const FORMAT = 'YYYY-MM-DD';

/** A pooled quota also counts the uses of the tenants below. Only sums by tenant include them. */
export const poolFilter = ({ pooled }: Pick<Quota, 'pooled'>) => (pooled ? { by: 'tenant' as const } : {});

/** The first day whose uses the curve needs: the first day of the period in which the range starts. */
export function getFirstDay(days: number, period: Quota['period']): string {
  const start = dayjs().subtract(days - 1, 'day');
  return (period === 'month' || period === 'year' ? start.startOf(period) : start).format(FORMAT);
}

/**
 * Calculates the curve from the sums of each day. The last point is the current usage: what was used before the first day, or
 * was set by an administrator, is added to all points of the current period.
 */
export function getCurve(
  { used, period, resetTime }: Pick<Quota, 'used' | 'period' | 'resetTime'>,
  sums: UsageSum[],
  days: number,
): Point[] {
  const amounts = new Map<string, number>();
  for (const { date, amount } of sums) amounts.set(date, (amounts.get(date) ?? 0) + amount);
  // The calendar of the service can be a day ahead of that of the browser, and a new period may have begun there.
  const periodStart =
    period === 'none' || resetTime === null ? '' : dayjs(resetTime).subtract(1, period).format(FORMAT);
  const latest = [dayjs().format(FORMAT), periodStart, ...amounts.keys()].reduce((a, b) => (b > a ? b : a));
  const shownFrom = dayjs(latest)
    .subtract(days - 1, 'day')
    .format(FORMAT);
  const points: Point[] = [];
  let sum = 0;
  for (let day = dayjs(getFirstDay(days, period)); day.format(FORMAT) <= latest; day = day.add(1, 'day')) {
    const date = day.format(FORMAT);
    const startsPeriod = period !== 'none' && day.startOf(period).format(FORMAT) === date;
    if (startsPeriod) sum = 0;
    const amount = amounts.get(date) ?? 0;
    sum += amount;
    points.push({ date, amount, used: sum, startsPeriod });
  }
  const start = points.findLastIndex(({ startsPeriod }) => startsPeriod);
  const missing = used - sum;
  for (const point of points.slice(Math.max(0, start))) point.used = Math.max(0, point.used + missing);
  return points.filter(({ date }) => date >= shownFrom);
}

/** Returns at most five round values from 0 up to the one that is at least `max`. */
export function getTicks(max: number): number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, max) / 4));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((each) => each * 4 >= max) ?? 1);
  const count = Math.max(1, Math.ceil(max / step));
  return Array.from({ length: count + 1 }, (_, n) => n * step);
}
