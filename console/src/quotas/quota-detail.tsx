import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { api, type Quota } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { DescriptionList } from '../ui/description-list.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { QuotaPeriodText } from '../ui/quota-list.tsx';
import { ACCOUNTS, useQuotaName } from '../ui/quota-texts.ts';
import { QuotaTotal } from '../ui/quota-total.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { UsageMeter } from '../ui/usage-meter.tsx';
import { usageTexts } from '../ui/usage-texts.ts';
import { useUrlParams } from '../ui/use-url-params.ts';
import { getFirstDay, poolFilter } from './curve.ts';
import { FORECAST_DAYS, formatPerDay, getForecast } from './forecast.ts';
import { RunsOut } from './runs-out.tsx';
import { quotasTexts } from './texts.ts';
import { UsageCards } from './usage-cards.tsx';
import { UseList } from './use-list.tsx';

/** One quota of the current tenant, or with `?tenantId=` of a tenant below. */
export function QuotaDetail() {
  const t = useTexts(quotasTexts);
  const { quota = '' } = useParams();
  const name = useQuotaName()(quota);
  const [params] = useUrlParams();
  const ownTenantId = useMe().tenant.tenantId;
  const requested = params.get('tenantId') ?? '';
  const tenantId = /^\d{6,18}$/.test(requested) && requested !== ownTenantId ? requested : undefined;
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.quotas.list(tenantId),
    queryFn: ({ signal }) => api.listQuotas({ tenantId }, signal),
    staleTime: 0,
  });
  const tenants = useQuery({
    queryKey: queryKeys.tenants.list({ tenantId }),
    queryFn: ({ signal }) => api.listTenants({ tenantId: tenantId as string, pageSize: 1 }, signal),
    enabled: tenantId !== undefined,
  });
  const tenant = tenants.data?.data.rows.find((row) => row.tenantId === tenantId);
  const found = data?.data.find((each) => each.quota === quota);
  return (
    <div className="stack">
      <nav>
        {tenant ? (
          <Link to={`/tenants/${tenant.id}`}>← {tenant.tenantName || tenant.tenantId}</Link>
        ) : (
          <Link to="/quotas">← {t.backToList}</Link>
        )}
      </nav>
      <PageTitle title={name}>{tenant && found && <QuotaTotal tenant={tenant} quota={found} />}</PageTitle>
      {error && !data ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : found ? (
        <Detail quota={found} tenantId={tenantId} />
      ) : (
        <Empty text={t.notFound} />
      )}
    </div>
  );
}

function Detail({ quota, tenantId }: { quota: Quota; tenantId: string | undefined }) {
  const t = useTexts(quotasTexts);
  const u = useTexts(usageTexts);
  const name = useQuotaName()(quota.quota);
  const isUserCount = quota.quota === ACCOUNTS;
  const filter = {
    tenantId,
    quota: quota.quota,
    from: getFirstDay(FORECAST_DAYS, 'none'),
    per: 'month' as const,
    ...poolFilter(quota),
  };
  const { data } = useQuery({
    queryKey: queryKeys.quotas.usage(filter),
    queryFn: ({ signal }) => api.readUsage(filter, signal),
    enabled: !isUserCount,
    staleTime: 0,
  });
  const recent = data?.data.reduce((sum, { amount }) => sum + amount, 0);
  return (
    <>
      <Card title={t.details}>
        <div className="quotas-overview">
          <UsageMeter name={name} used={quota.used} total={quota.total} reserved={quota.reserved} hidesName />
          <DescriptionList
            items={[
              { label: u.used, value: quota.used.toLocaleString() },
              { label: u.total, value: quota.total < 0 ? u.noLimit : quota.total.toLocaleString() },
              { label: u.reserved, value: quota.reserved.toLocaleString() },
              { label: u.left, value: quota.left < 0 ? u.noLimit : quota.left.toLocaleString() },
              { label: u.period, value: <QuotaPeriodText quota={quota} /> },
              ...(recent === undefined
                ? []
                : [
                    { label: t.perDay, value: formatPerDay(getForecast(quota, recent).perDay) },
                    { label: t.runsOut, value: <RunsOut quota={quota} recent={recent} /> },
                  ]),
            ]}
          />
          {quota.pooled && <p className="secondary quotas-hint">{t.pooledHint}</p>}
          {isUserCount && <p className="secondary quotas-hint">{t.counted}</p>}
        </div>
      </Card>
      {!isUserCount && (
        <>
          <UsageCards quota={quota} tenantId={tenantId} />
          <UseList quota={quota.quota} tenantId={tenantId} />
        </>
      )}
    </>
  );
}
