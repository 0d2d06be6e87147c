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
import { addDays, EXPIRING_DAYS, today } from '../ui/tenant-period.ts';
import { UsageMeter } from '../ui/usage-meter.tsx';
import { GettingStarted } from './getting-started.tsx';
import { MyProfile } from './my-profile.tsx';
import { RecentChanges } from './recent-changes.tsx';
import { homeTexts } from './texts.ts';
import { ToDo } from './to-do.tsx';
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
        {administrator && (
          <>
            <Figure name={t.users} value={overview.users} to="/people" />
            {/* Without child tenants, the list contains only the user's own tenant. The to-do list says when that expires. */}
            {overview.tenantsBelow > 0 && (
              <>
                <Figure name={t.tenants} value={overview.tenantsBelow} to="/tenants" />
                <EndingFigure />
              </>
            )}
          </>
        )}
      </section>
      {administrator ? (
        <div className="home-columns">
          <ToDo endingSoon={overview.endingSoon} full={overview.full} />
          <div className="stack">
            <UsageCard overview={overview} />
            <RecentChanges />
          </div>
        </div>
      ) : (
        <MyProfile />
      )}
    </>
  );
}

interface FigureProps {
  name: string;
  /** Undefined while it is loading. */
  value: number | undefined;
  to: string;
  tone?: string;
}

function Figure({ name, value, to, tone = '' }: FigureProps) {
  return (
    <Link to={to} className="home-figure">
      <span className="secondary">{name}</span>
      <span className={`home-value ${tone}`}>{value?.toLocaleString() ?? '…'}</span>
    </Link>
  );
}

/** Counts what the list of tenants shows when it is opened from here. */
function EndingFigure() {
  const t = useTexts(homeTexts);
  const filter = { endsBefore: addDays(today(), EXPIRING_DAYS + 1), pageSize: 1 };
  const { data } = useQuery({
    queryKey: queryKeys.tenants.list(filter),
    queryFn: ({ signal }) => api.listTenants(filter, signal),
  });
  const count = data?.data.total;
  const to = `/tenants?ends=${EXPIRING_DAYS}`;
  return <Figure name={t.ending} value={count} to={to} tone={count ? 'usage-warning' : ''} />;
}

/** The user limit, and the quotas that have a total or have been used. */
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
