/** Days are calendar days, as the service stores them: YYYY-MM-DD. The last day of a period is inclusive. */

export interface Period {
  startTime: string | null;
  endTime: string | null;
}

/** The one state of a tenant, the same on every screen. */
export type TenantState = 'active' | 'expiring' | 'ended' | 'upcoming' | 'disabled';

/** A period that ends within this many days is `expiring`. The overview of the service uses the same number. */
export const EXPIRING_DAYS = 60;

const DAY_MS = 86_400_000;

/** Today in the time zone of the browser. */
export const today = () => {
  const now = new Date();
  return toDate(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()));
};

const toDate = (time: number) => new Date(time).toISOString().slice(0, 10);

export const addDays = (date: string, days: number) => toDate(Date.parse(date) + days * DAY_MS);

/** 0 if the date is today, negative if it is in the past. */
export const daysUntil = (date: string, from = today()) => (Date.parse(date) - Date.parse(from)) / DAY_MS;

export function getTenantState(
  { status, startTime, endTime }: Period & { status: '0' | '1' },
  from = today(),
): TenantState {
  if (status === '1') return 'disabled';
  if (endTime && endTime < from) return 'ended';
  if (startTime && startTime > from) return 'upcoming';
  return endTime && daysUntil(endTime, from) <= EXPIRING_DAYS ? 'expiring' : 'active';
}

/**
 * Moves the last day of a period by whole months. The end of a month stays the end of a month, so that a service paid by the
 * month does not lose days after February. Any other day stays the same, if the month has it.
 */
export function addMonths(date: string, months: number): string {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const lastDayOf = (monthIndex: number) => new Date(Date.UTC(year, monthIndex + 1, 0)).getUTCDate();
  const target = month - 1 + months;
  const isLastDay = day === lastDayOf(month - 1);
  return toDate(Date.UTC(year, target, isLastDay ? lastDayOf(target) : Math.min(day, lastDayOf(target))));
}

/** The last day of a renewed period. A period that has ended continues today: nobody pays for the days in between. */
export function getRenewedEnd(endTime: string, months: number, from = today()): string {
  const yesterday = addDays(from, -1);
  return addMonths(endTime < yesterday ? yesterday : endTime, months);
}
