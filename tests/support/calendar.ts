/** A day by the calendar of the service, and of the tests' browser: so many days from today. */
export const inDays = (days: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' }).format(Date.now() + days * 86_400_000);
