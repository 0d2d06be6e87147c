import { isCalendarDate } from '../http/fields.ts';
import type { Findings, Rule } from './findings.ts';

/** Converts the values of one record, and reports those that cannot be imported as they are. */
export class Values {
  private readonly findings: Findings;
  private readonly tenant: string;
  private readonly record: string;

  constructor(findings: Findings, tenant: string, record: string) {
    this.findings = findings;
    this.tenant = tenant;
    this.record = record;
  }

  report(rule: Rule, detail?: string): void {
    this.findings.add(rule, this.tenant, this.record, detail);
  }

  /** Empty text becomes null. Lengths are in characters, as in the API. */
  text(value: string | null, maxLength: number): string | null {
    if (value === null) return null;
    // PostgreSQL stores neither NUL nor half of a surrogate pair.
    const storable = value.replaceAll('\0', '').toWellFormed();
    const characters = [...storable.trim()];
    const result = characters.slice(0, maxLength).join('').trim();
    if (storable !== value || characters.length > maxLength) this.report('text', value);
    return result === '' ? null : result;
  }

  email(value: string | null): string | null {
    const text = this.text(value, 254);
    if (text === null || /^[^\s@]+@[^\s@]+$/.test(text)) return text;
    this.report('email', text);
    return null;
  }

  integer(value: string | null, { min, max, missing }: { min: number; max: number; missing: number }): number {
    const number = value === null || value.trim() === '' ? missing : Number(value);
    const result = Number.isFinite(number) ? Math.min(max, Math.max(min, Math.round(number))) : missing;
    if (value !== null && result !== number) this.report('number', value);
    return result;
  }

  status(value: string | null): '0' | '1' {
    if (value === '0' || value === '1') return value;
    this.report('status', value ?? 'none');
    return '1';
  }

  /** Returns the date of a time. */
  date(value: string | null): string | null {
    if (value === null || value === '') return null;
    const day = value.slice(0, 10);
    if (isCalendarDate(day)) return day;
    this.report('date', value);
    return null;
  }
}
