import { setTimeout } from 'node:timers/promises';

/** Returns the date this many days from today, by default in the time zone of the service and of the tests' browser. */
export const dateInDays = (days: number, timeZone = 'Asia/Shanghai'): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone }).format(Date.now() + days * 86_400_000);

/**
 * If midnight is less than five minutes away, waits until it has passed. For test files that expect texts with days relative to
 * today, such as "in 3 days".
 */
export async function avoidMidnight(): Promise<void> {
  const left = 86_400_000 - ((Date.now() + 8 * 3_600_000) % 86_400_000);
  if (left < 300_000) await setTimeout(left + 1_000);
}

/** Runs the work again if it failed because midnight passed meanwhile. */
export async function withinOneDay(work: () => Promise<void>): Promise<void> {
  const today = dateInDays(0);
  await work().catch((error) => (dateInDays(0) === today ? Promise.reject(error) : work()));
}
