import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, type Overview } from '../api.ts';
import { useTexts } from '../language.ts';
import { useIsAdministrator, useMe } from '../session.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Panel } from '../ui/panel.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { Bar } from './bar.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LastChanges } from './last-changes.tsx';
import { Mine } from './mine.tsx';
import { EndingSoon, Full } from './tenants.tsx';
import { homeTexts } from './texts.ts';
import './home.css';

export default function Home() {
  const t = useTexts(homeTexts);
  const { user } = useMe();
  const { data, error, refetch } = useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => api.readOverview(signal),
  });
  return (
    <div className="cards">
      <PageTitle title={t.title}>
        <span className="quiet">{t.hello(user.nickName || user.userName)}</span>
      </PageTitle>
      {error ? <Failed error={error} retry={refetch} /> : data ? <Shown overview={data.data} /> : <Loading />}
    </div>
  );
}

function Shown({ overview }: { overview: Overview }) {
  const t = useTexts(homeTexts);
  const administrator = useIsAdministrator();
  return (
    <>
      {overview.departments === 0 && <FirstSteps />}
      <section className="home-numbers" aria-label={t.numbers}>
        <Figure name={t.departments} value={overview.departments} to="/departments" />
        <Figure name={t.users} value={overview.users} {...(administrator ? { to: '/people' } : {})} />
        {administrator && <Figure name={t.tenants} value={overview.tenantsBelow} to="/tenants" />}
      </section>
      {administrator ? (
        <div className="home-columns">
          <Usage overview={overview} />
          <div className="cards">
            <EndingSoon tenants={overview.endingSoon} />
            <Full tenants={overview.full} />
          </div>
        </div>
      ) : (
        <Mine />
      )}
      {administrator && <LastChanges />}
    </>
  );
}

function Figure({ name, value, to }: { name: string; value: number; to?: string }) {
  const content = (
    <>
      <span className="quiet">{name}</span>
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

function Usage({ overview: { accounts, quotas } }: { overview: Overview }) {
  const t = useTexts(homeTexts);
  const set = Object.entries(quotas).filter(([, { total, used }]) => total > 0 || (used ?? 0) > 0);
  return (
    <Panel title={t.usage}>
      <Bar name={t.accounts} used={accounts.used} total={accounts.limit} />
      {set.map(([quota, { total, used }]) => (
        <Bar key={quota} name={t[quota as keyof Overview['quotas']]} used={used} total={total} />
      ))}
      {set.length === 0 && <p className="quiet home-none">{t.noQuotas}</p>}
    </Panel>
  );
}
