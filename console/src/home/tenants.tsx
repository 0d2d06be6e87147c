import { Link } from 'react-router';
import type { Overview } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { Mark } from '../ui/mark.tsx';
import { Panel } from '../ui/panel.tsx';
import { Bar } from './bar.tsx';
import { homeTexts } from './texts.ts';

const nameOf = ({ tenantName, tenantId }: { tenantName: string | null; tenantId: string }) => tenantName || tenantId;

/** Own and below, the soonest first. */
export function EndingSoon({ tenants }: { tenants: Overview['endingSoon'] }) {
  const t = useTexts(homeTexts);
  const { tenant } = useMe();
  return (
    <Panel title={t.endingSoon}>
      {tenants.length === 0 ? (
        <p className="quiet home-none">{t.nothingEnds}</p>
      ) : (
        <ul className="rows home-rows">
          {tenants.map((one) => {
            const own = one.tenantId === tenant.tenantId;
            return (
              <li key={one.id}>
                <div>
                  {/* Nobody manages his own tenant. */}
                  {own ? <strong>{nameOf(one)}</strong> : <Link to={`/tenants/${one.id}`}>{nameOf(one)}</Link>}{' '}
                  {own && <Mark kind="good">{t.own}</Mark>}
                  {one.status === '1' && <Mark>{t.disabled}</Mark>}
                  <div className="quiet">{t.ends(one.endTime)}</div>
                </div>
                <span className={one.daysLeft <= 14 ? 'home-warning' : 'quiet'}>{t.daysLeft(one.daysLeft)}</span>
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

/** Tenants below whose accounts are nearly all taken. */
export function Full({ tenants }: { tenants: Overview['full'] }) {
  const t = useTexts(homeTexts);
  if (tenants.length === 0) return null;
  return (
    <Panel title={t.full}>
      <ul className="rows home-rows">
        {tenants.map((one) => (
          <li key={one.id} className="home-full">
            <div>
              <Link to={`/tenants/${one.id}`}>{nameOf(one)}</Link>
              <Link to={`/people?tenantId=${one.tenantId}`} aria-label={t.peopleOf(nameOf(one))}>
                {t.people}
              </Link>
            </div>
            <Bar name={t.accounts} used={one.used} total={one.limit} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
