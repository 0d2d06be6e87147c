/** Returns the date this many days from today, by default in the time zone of the service and of the tests' browser. */
export const dateInDays = (days: number, timeZone = 'Asia/Shanghai'): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone }).format(Date.now() + days * 86_400_000);

/** Runs the work again if it failed because midnight passed meanwhile. */
export async function withinOneDay(work: () => Promise<void>): Promise<void> {
  const today = dateInDays(0);
  await work().catch((error) => (dateInDays(0) === today ? Promise.reject(error) : work()));
}
