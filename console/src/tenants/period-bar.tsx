import { Grid } from 'antd';
import dayjs from 'dayjs';
import { useTexts } from '../language.ts';
import { daysUntil, type Period, placeOf, type Span, type Standing, share, standingOf, today } from './period.ts';
import { type TenantsTexts, tenantsTexts } from './texts.ts';

/** In words; the bars are for those who see them. */
export function wordsOf(period: Period, t: TenantsTexts): string {
  const { startTime, endTime } = period;
  const standing = standingOf(period);
  if (standing === 'waiting') return t.waiting(startTime ?? '');
  if (!endTime) return t.endless;
  const days = daysUntil(endTime);
  if (days < 0) return t.ended(-days);
  return days === 0 ? t.lastDay : t.running(days);
}

/** From when to when. */
export function datesOf({ startTime, endTime }: Period, t: TenantsTexts): string {
  if (startTime && endTime) return t.between(startTime, endTime);
  if (startTime) return t.since(startTime);
  return endTime ? t.until(endTime) : t.always;
}

export function Ends({ period }: { period: Period }) {
  const t = useTexts(tenantsTexts);
  return <span className={`tenants-ends tenants-${standingOf(period)}`}>{wordsOf(period, t)}</span>;
}

/** A period within a span of time, with today. */
export function PeriodBar({ period, span }: { period: Period; span: Span }) {
  const place = placeOf(period, span);
  const now = share(today(), span);
  return (
    <div className="tenants-track" aria-hidden="true">
      {place && (
        <span
          className={`tenants-bar tenants-bar-${standingOf(period)}`}
          data-open={[place.openLeft && 'left', place.openRight && 'right'].filter(Boolean).join(' ')}
          style={{ left: `${place.left}%`, width: `${place.width}%` }}
        />
      )}
      {now >= 0 && now <= 100 && <span className="tenants-today" style={{ left: `${now}%` }} />}
    </div>
  );
}

/** Months above the bars; only as many as can be read. */
export function Axis({ span }: { span: Span }) {
  const t = useTexts(tenantsTexts);
  const narrow = Grid.useBreakpoint().md === false;
  const most = narrow ? 3 : 6;
  const months = Math.max(dayjs(span.to).diff(span.from, 'month'), 1);
  const step = Math.ceil(months / most);
  const first = dayjs(span.from).add(1, 'month').startOf('month');
  const marks = Array.from({ length: Math.floor(months / step) + 1 }, (_, at) => first.add(at * step, 'month')).filter(
    (mark) => share(mark.format('YYYY-MM-DD'), span) < (narrow ? 85 : 92),
  );
  const now = share(today(), span);
  return (
    <div className="tenants-axis" aria-hidden="true">
      {marks.map((mark) => {
        const at = share(mark.format('YYYY-MM-DD'), span);
        // The word "today" has its own place.
        return Math.abs(at - now) < (narrow ? 22 : 10) ? null : (
          <span key={mark.valueOf()} style={{ left: `${at}%` }}>
            {mark.format('YYYY-MM')}
          </span>
        );
      })}
      {now >= 0 && now <= 100 && (
        <strong style={{ left: `${now}%` }} data-edge={now < 6 ? 'left' : now > 94 ? 'right' : ''}>
          {t.today}
        </strong>
      )}
    </div>
  );
}

export function Legend() {
  const t = useTexts(tenantsTexts);
  const kinds: [Standing, string][] = [
    ['running', t.legendRunning],
    ['soon', t.legendSoon],
    ['ended', t.legendEnded],
    ['waiting', t.legendWaiting],
  ];
  return (
    <ul className="tenants-legend" aria-hidden="true">
      {kinds.map(([standing, name]) => (
        <li key={standing}>
          <span className={`tenants-bar-${standing}`} />
          {name}
        </li>
      ))}
    </ul>
  );
}
