import dayjs from 'dayjs';
import { useTexts } from '../language.ts';
import { daysUntil, getTenantState, type Period, type TenantState, today } from '../ui/tenant-period.ts';
import { tenantTexts } from '../ui/tenant-texts.ts';
import { useWidth } from '../ui/use-width.ts';
import { getBarPosition, type Span, toPercent } from './period.ts';
import { type TenantsTexts, tenantsTexts } from './texts.ts';

/** The text equivalent of the bars, which are hidden from screen readers. */
function describePeriod(period: Period, t: TenantsTexts): string {
  const { startTime, endTime } = period;
  if (startTime && startTime > today() && !(endTime && endTime < today())) return t.upcoming(startTime);
  if (!endTime) return t.endless;
  const days = daysUntil(endTime);
  if (days < 0) return t.ended(-days);
  return days === 0 ? t.lastDay : t.running(days);
}

export function formatDates({ startTime, endTime }: Period, t: TenantsTexts): string {
  if (startTime && endTime) return t.between(startTime, endTime);
  if (startTime) return t.since(startTime);
  return endTime ? t.until(endTime) : t.always;
}

/** The date on which the period starts, or how many days are left until its end or have passed since. */
export function PeriodStatus({ tenant }: { tenant: Period & { status: '0' | '1' } }) {
  const t = useTexts(tenantsTexts);
  return (
    <span className={`tenants-period-state tenants-period-${getTenantState(tenant)}`}>{describePeriod(tenant, t)}</span>
  );
}

/** A bar for the period within a time span, with a marker for today. */
export function PeriodBar({ tenant, span }: { tenant: Period & { status: '0' | '1' }; span: Span }) {
  const bar = getBarPosition(tenant, span);
  const now = toPercent(today(), span);
  return (
    <div className="tenants-track" aria-hidden="true">
      {bar && (
        <span
          className={`tenants-bar tenants-bar-${getTenantState(tenant)}`}
          data-open={[bar.openLeft && 'left', bar.openRight && 'right'].filter(Boolean).join(' ')}
          style={{ left: `${bar.left}%`, width: `${bar.width}%` }}
        />
      )}
      {now >= 0 && now <= 100 && <span className="tenants-today" style={{ left: `${now}%` }} />}
    </div>
  );
}

/** The width of the label of a month with its gap, in pixels. */
const MARK_WIDTH = 58;
/** The width of the label of today. From its middle, this is half of the label plus a gap. */
const TODAY_WIDTH = 24;

/** The months of the time axis, as many as fit. */
export function Axis({ span }: { span: Span }) {
  const t = useTexts(tenantsTexts);
  const [width, ref] = useWidth<HTMLDivElement>();
  const maxMarks = Math.max(1, Math.min(6, Math.floor(width / MARK_WIDTH)));
  /** Converts pixels to percent of the axis. */
  const sizeOf = (pixels: number) => (pixels / Math.max(width, 1)) * 100;
  const months = Math.max(dayjs(span.to).diff(span.from, 'month'), 1);
  const step = Math.ceil(months / maxMarks);
  const first = dayjs(span.from).add(1, 'month').startOf('month');
  const marks = Array.from({ length: Math.floor(months / step) + 1 }, (_, index) =>
    first.add(index * step, 'month'),
  ).filter((mark) => toPercent(mark.format('YYYY-MM-DD'), span) < 100 - sizeOf(MARK_WIDTH));
  const now = toPercent(today(), span);
  return (
    <div className="tenants-axis" aria-hidden="true" ref={ref}>
      {marks.map((mark) => {
        const position = toPercent(mark.format('YYYY-MM-DD'), span);
        // Leave room for the label of today. On its left, MARK_WIDTH contains the gap already.
        const overlaps = position > now - sizeOf(MARK_WIDTH + TODAY_WIDTH / 2) && position < now + sizeOf(TODAY_WIDTH);
        return overlaps ? null : (
          <span key={mark.valueOf()} style={{ left: `${position}%` }}>
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

const STATES: TenantState[] = ['active', 'expiring', 'ended', 'upcoming', 'disabled'];

export function Legend() {
  const t = useTexts(tenantTexts);
  return (
    <ul className="tenants-legend" aria-hidden="true">
      {STATES.map((state) => (
        <li key={state}>
          <span className={`tenants-bar-${state}`} />
          {t[state]}
        </li>
      ))}
    </ul>
  );
}
