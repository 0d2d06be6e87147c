/** Returns the date this many days from today, in the time zone of the service and of the tests' browser. */
export const dateInDays = (days: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' }).format(Date.now() + days * 86_400_000);
