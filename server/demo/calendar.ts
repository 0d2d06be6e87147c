import type { Random } from './random.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Office hours begin at 9:00 in China, which is 1:00 UTC. */
const OPENING_HOUR_UTC = 1;
const OFFICE_HOURS = 9;

/** Times, counted in days before now, and dates, counted in days after today. */
export class Calendar {
  private readonly now: number;
  private readonly random: Random;

  constructor(now: Date, random: Random) {
    this.now = now.getTime();
    this.random = random;
  }

  /** Returns a time in office hours of that day or, if it is at a weekend, of the Friday before. */
  workingTime(daysAgo: number): Date {
    const day = new Date(this.now - daysAgo * DAY_MS);
    day.setUTCHours(OPENING_HOUR_UTC, 0, 0, 0);
    while ([0, 6].includes(day.getUTCDay())) day.setTime(day.getTime() - DAY_MS);
    return new Date(day.getTime() + this.random.next() * OFFICE_HOURS * HOUR_MS);
  }

  /** Returns the date that many days after today, such as 2026-05-31. */
  dateIn = (days: number): string => new Date(this.now + days * DAY_MS).toISOString().slice(0, 10);
}
