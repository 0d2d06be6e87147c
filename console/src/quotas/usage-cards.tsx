import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Segmented } from 'antd';
import { api, type Quota } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { useQuotaName } from '../ui/quota-texts.ts';
import { LoadError, Loading } from '../ui/states.tsx';
import { useUrlParams } from '../ui/use-url-params.ts';
import { getCurve, getFirstDay, type Point, poolFilter } from './curve.ts';
import { usageChartTexts } from './texts.ts';
import { UsageChart } from './usage-chart.tsx';
import { UsageSums } from './usage-sums.tsx';

const RANGES = [30, 90, 365];

interface Props {
  quota: Quota;
  tenantId: string | undefined;
}

/**
 * The curve of a quota by day, and beside it the sums over the same time by user, key, subject or department; those of a pool
 * also by tenant.
 */
export function UsageCards({ quota, tenantId }: Props) {
  const t = useTexts(usageChartTexts);
  const [params, update] = useUrlParams();
  const requested = Number(params.get('days'));
  const days = RANGES.includes(requested) ? requested : (RANGES[0] as number);
  return (
    <div className="quotas-columns">
      <Card
        className="quotas-card"
        title={t.title}
        extra={
          <Segmented<number>
            aria-label={t.range}
            name="quotas-days"
            value={days}
            onChange={(next) => update({ days: next === RANGES[0] ? null : next }, { replace: true })}
            options={RANGES.map((value) => ({ value, label: t.days(value) }))}
          />
        }
      >
        <Curve quota={quota} tenantId={tenantId} days={days} />
      </Card>
      <UsageSums quota={quota} tenantId={tenantId} from={getFirstDay(days, 'none')} />
    </div>
  );
}

function Curve({ quota, tenantId, days }: Props & { days: number }) {
  const t = useTexts(usageChartTexts);
  const name = useQuotaName()(quota.quota);
  const filter = {
    tenantId,
    quota: quota.quota,
    from: getFirstDay(days, quota.period),
    ...poolFilter(quota),
  };
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.quotas.usage(filter),
    queryFn: ({ signal }) => api.readUsage(filter, signal),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  if (error && !data) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const points = getCurve(quota, data.data, days);
  return (
    <>
      <UsageChart name={name} points={points} total={quota.total} />
      {quota.period !== 'none' && <p className="secondary quotas-hint">{t.resets}</p>}
      <details className="quotas-data">
        <summary>{t.table}</summary>
        <DayTable points={points} />
      </details>
    </>
  );
}

/** The data of the curve as a table, the latest day first. */
function DayTable({ points }: { points: Point[] }) {
  const t = useTexts(usageChartTexts);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section className="quotas-days" aria-label={t.table} tabIndex={0}>
      <table className="comparison-table">
        <thead>
          <tr>
            <th scope="col">{t.date}</th>
            <th scope="col">{t.perDay}</th>
            <th scope="col">{t.usedSoFar}</th>
          </tr>
        </thead>
        <tbody>
          {points.toReversed().map(({ date, amount, used }) => (
            <tr key={date}>
              <th scope="row">{date}</th>
              <td>{amount.toLocaleString()}</td>
              <td>{used.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
