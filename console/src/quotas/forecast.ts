import dayjs from 'dayjs';
import type { Quota } from '../api.ts';

/** The forecast assumes that usage continues at the average rate of this many days. */
export const FORECAST_DAYS = 30;
/** Dates beyond this are not worth showing. */
const MAX_DAYS = 3650;

export interface Forecast {
  perDay: number;
  /** `date`: the quota runs out on that day if its usage continues at this rate. */
  outcome: 'usedUp' | 'date' | 'resetsBefore' | 'farAway' | 'never';
  days?: number;
  date?: string;
}

/** Estimates when a quota runs out, from what was used in the last 30 days. */
export function getForecast(
  { total, left, resetTime }: Pick<Quota, 'total' | 'left' | 'resetTime'>,
  recent: number,
): Forecast {
  const perDay = recent / FORECAST_DAYS;
  if (total < 0) return { perDay, outcome: 'never' };
  if (left === 0) return { perDay, outcome: 'usedUp' };
  if (perDay === 0) return { perDay, outcome: 'never' };
  const days = Math.floor(left / perDay);
  if (days > MAX_DAYS) return { perDay, outcome: resetTime ? 'resetsBefore' : 'farAway' };
  const date = dayjs().add(days, 'day').format('YYYY-MM-DD');
  if (resetTime && date >= resetTime.slice(0, 10)) return { perDay, outcome: 'resetsBefore' };
  return { perDay, outcome: 'date', days, date };
}

export const formatPerDay = (perDay: number): string =>
  perDay.toLocaleString(undefined, { maximumFractionDigits: perDay < 10 ? 1 : 0 });
