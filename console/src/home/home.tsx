import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, type Overview } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useIsAdministrator, useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { quotaTexts, useQuotaName } from '../ui/quota-texts.ts';
import { LoadError, Loading } from '../ui/states.tsx';
import { UsageMeter } from '../ui/usage-meter.tsx';
import { GettingStarted } from './getting-started.tsx';
import { MyProfile } from './my-profile.tsx';
import { RecentChanges } from './recent-changes.tsx';
import { ExpiringTenants, NearlyFullTenants } from './tenant-alerts.tsx';
import { homeTexts } from './texts.ts';
import './home.css';

export default function Home() {
  const t = useTexts(homeTexts);
  const { user } = useMe();
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.overview,
    queryFn: ({ signal }) => api.readOverview(signal),
  });
  return (
    <div className="stack">
      <PageTitle title={t.title}>
        <span className="secondary">{t.greeting(user.nickName || user.userName)}</span>
      </PageTitle>
      {error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : data ? (
        <OverviewContent overview={data.data} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

function OverviewContent({ overview }: { overview: Overview }) {
  const t = useTexts(homeTexts);
  const administrator = useIsAdministrator();
  return (
    <>
      {overview.departments === 0 && <GettingStarted />}
      <section className="home-figures" aria-label={t.summary}>
        <Figure name={t.departments} value={overview.departments} to="/departments" />
        <Figure name={t.users} value={overview.users} {...(administrator ? { to: '/people' } : {})} />
        {administrator && <Figure name={t.tenants} value={overview.tenantsBelow} to="/tenants" />}
      </section>
      {administrator ? (
        <div className="home-columns">
          <UsageCard overview={overview} />
          <div className="stack">
            <ExpiringTenants tenants={overview.endingSoon} />
            <NearlyFullTenants tenants={overview.full} />
          </div>
        </div>
      ) : (
        <MyProfile />
      )}
      {administrator && <RecentChanges />}
    </>
  );
}

function Figure({ name, value, to }: { name: string; value: number; to?: string }) {
  const content = (
    <>
      <span className="secondary">{name}</span>
      <span className="home-value">{value.toLocaleString()}</span>
    </>
  );
  return to ? (
    <Link to={to} className="home-figure">
      {content}
    </Link>
  ) : (
    <div className="home-figure">{content}</div>
  );
}

/** The account limit, and the quotas of which the tenant has any. */
function UsageCard({ overview: { accounts } }: { overview: Overview }) {
  const t = useTexts(homeTexts);
  const { accountCount } = useTexts(quotaTexts);
  const nameOf = useQuotaName();
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.quotas.list(undefined),
    queryFn: ({ signal }) => api.listQuotas({}, signal),
    // Programs use quotas at any time.
    staleTime: 0,
  });
  const quotasInUse = data?.data.filter(({ total, used, reserved }) => total > 0 || used + reserved > 0);
  return (
    <Card title={t.usage} extra={<Link to="/quotas">{t.allQuotas}</Link>}>
      <UsageMeter name={accountCount} used={accounts.used} total={accounts.limit} />
      {error && !data && <LoadError error={error} onRetry={refetch} />}
      {quotasInUse?.map(({ quota, ...numbers }) => (
        <UsageMeter key={quota} name={nameOf(quota)} {...numbers} />
      ))}
      {quotasInUse?.length === 0 && <p className="secondary home-hint">{t.noQuotas}</p>}
    </Card>
  );
}
