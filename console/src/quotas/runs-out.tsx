import type { Quota } from '../api.ts';
import { useTexts } from '../language.ts';
import { StatusTag } from '../ui/status-tag.tsx';
import { getForecast } from './forecast.ts';
import { quotasTexts } from './texts.ts';

/** Within this many days, the date is a warning. */
const SOON = 14;
/** A larger number of days says less than the date. */
const A_YEAR = 365;

interface Props {
  quota: Pick<Quota, 'total' | 'left' | 'resetTime'>;
  /** What was used in the last 30 days. */
  recent: number;
}

/** When a quota runs out if its usage continues as in the last 30 days. */
export function RunsOut({ quota, recent }: Props) {
  const t = useTexts(quotasTexts);
  const { outcome, days = 0, date = '' } = getForecast(quota, recent);
  switch (outcome) {
    case 'usedUp':
      return <StatusTag tone="error">{t.usedUpNow}</StatusTag>;
    case 'date':
      return (
        <>
          {date}{' '}
          {days <= SOON ? (
            <StatusTag tone="warning">{t.daysLeft(days)}</StatusTag>
          ) : (
            days < A_YEAR && <span className="secondary quotas-days-left">{t.daysLeft(days)}</span>
          )}
        </>
      );
    case 'resetsBefore':
      return <span className="secondary">{t.resetsBefore}</span>;
    case 'farAway':
      return <span className="secondary">{t.farAway}</span>;
    default:
      return <span className="secondary">{t.never}</span>;
  }
}
