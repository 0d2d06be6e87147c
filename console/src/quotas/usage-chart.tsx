import { useLanguage, useTexts } from '../language.ts';
import { useWidth } from '../ui/use-width.ts';
import { getTicks, type Point } from './curve.ts';
import { usageChartTexts } from './texts.ts';

const CURVE_HEIGHT = 220;
const BARS_HEIGHT = 56;
const GAP = 28;
const TOP = 24;
const BOTTOM = 24;
const RIGHT = 12;
const HEIGHT = TOP + CURVE_HEIGHT + GAP + BARS_HEIGHT + BOTTOM;
/** The width of a character of the labels, and of a date with its gap. */
const CHARACTER = 8;
const LABEL_GAP = 76;
/** The axis shortens numbers from here on. */
const MIN_COMPACT = 100_000;

interface Props {
  name: string;
  points: Point[];
  /** Negative if there is no limit. */
  total: number;
}

/** The curve of what was used so far with its limit, and below it what was used on each day. */
export function UsageChart({ name, points, total }: Props) {
  const t = useTexts(usageChartTexts);
  const language = useLanguage();
  const [width, container] = useWidth<HTMLElement>();
  const compact = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 });
  const format = (value: number) => value.toLocaleString();
  // Smaller numbers look as they do elsewhere on the screen.
  const formatAxis = (value: number) => (value < MIN_COMPACT ? format(value) : compact.format(value));
  const [first, last] = [points[0], points.at(-1)] as [Point, Point];
  const ticks = getTicks(Math.max(total, ...points.map(({ used }) => used), 1));
  const top = Math.max(ticks.at(-1) as number, total);
  const maxAmount = Math.max(1, ...points.map(({ amount }) => amount));
  const labels = [...ticks, maxAmount].map((value) => formatAxis(value).length);
  const left = Math.max(...labels) * CHARACTER + 12;
  const slot = Math.max(1, width - left - RIGHT) / points.length;
  const xOf = (index: number) => left + (index + 0.5) * slot;
  const yOf = (value: number) => TOP + CURVE_HEIGHT * (1 - value / top);
  const barsBottom = TOP + CURVE_HEIGHT + GAP + BARS_HEIGHT;
  const barOf = (amount: number) => (amount === 0 ? 0 : Math.max(1, (amount / maxAmount) * BARS_HEIGHT));
  const every = Math.max(1, Math.ceil(LABEL_GAP / slot));
  const barWidth = Math.max(1, Math.min(24, slot * 0.7));
  const limit = total < 0 ? t.noLimit : t.limit(format(total));
  const summary = t.summary(name, first.date, last.date, format(first.used), format(last.used), limit);
  return (
    <figure className="quotas-chart" ref={container}>
      {width > 0 && (
        <svg role="img" aria-label={summary} width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`}>
          {ticks.map((tick) => (
            <g key={tick}>
              <line className="quotas-grid" x1={left} x2={width - RIGHT} y1={yOf(tick)} y2={yOf(tick)} />
              <text className="quotas-axis" x={left - 8} y={yOf(tick) + 4} textAnchor="end">
                {formatAxis(tick)}
              </text>
            </g>
          ))}
          {getSegments(points).map(({ start, items }) => {
            const path = items.map(({ used }, n) => `${n === 0 ? 'M' : 'L'}${xOf(start + n)},${yOf(used)}`).join('');
            const end = start + items.length - 1;
            return (
              <g key={start}>
                <path className="quotas-area" d={`${path}L${xOf(end)},${yOf(0)}L${xOf(start)},${yOf(0)}Z`} />
                <path className="quotas-line" d={path} />
              </g>
            );
          })}
          <circle className="quotas-now" cx={xOf(points.length - 1)} cy={yOf(last.used)} r={4} />
          {total >= 0 && (
            <>
              <line className="quotas-limit" x1={left} x2={width - RIGHT} y1={yOf(total)} y2={yOf(total)} />
              <text className="quotas-limit-label" x={left + 4} y={yOf(total) - 6}>
                {limit}
              </text>
            </>
          )}
          <text className="quotas-axis" x={left - 8} y={barsBottom - BARS_HEIGHT + 8} textAnchor="end">
            {formatAxis(maxAmount)}
          </text>
          <line className="quotas-grid" x1={left} x2={width - RIGHT} y1={barsBottom} y2={barsBottom} />
          {points.map(({ date, amount, used }, n) => (
            <g key={date}>
              <rect
                className="quotas-bar"
                x={xOf(n) - barWidth / 2}
                y={barsBottom - barOf(amount)}
                width={barWidth}
                height={barOf(amount)}
              />
              {/* The dates are counted from the last one, which is always shown. */}
              {(points.length - 1 - n) % every === 0 && xOf(n) - LABEL_GAP / 2 > left - 40 && (
                <text className="quotas-axis" x={Math.min(xOf(n), width - 18)} y={HEIGHT - 6} textAnchor="middle">
                  {date.slice(5)}
                </text>
              )}
              <rect className="quotas-day" x={xOf(n) - slot / 2} y={TOP} width={slot} height={barsBottom - TOP}>
                <title>{t.point(date, format(used), format(amount))}</title>
              </rect>
            </g>
          ))}
        </svg>
      )}
      <figcaption className="quotas-legend secondary">
        <span className="quotas-legend-line">{t.usedSoFar}</span>
        <span className="quotas-legend-bar">{t.perDay}</span>
        {total >= 0 && <span className="quotas-legend-limit">{limit}</span>}
      </figcaption>
    </figure>
  );
}

/** The curve is interrupted where a period ends, unless each day is a period. */
function getSegments(points: Point[]): { start: number; items: Point[] }[] {
  if (points.every(({ startsPeriod }) => startsPeriod)) return [{ start: 0, items: points }];
  const segments: { start: number; items: Point[] }[] = [];
  for (const [index, point] of points.entries()) {
    if (index === 0 || point.startsPeriod) segments.push({ start: index, items: [point] });
    else segments.at(-1)?.items.push(point);
  }
  return segments;
}
