import { Link } from 'react-router';
import type { Overview } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { quotaTexts } from '../ui/quota-texts.ts';
import { StatusTag } from '../ui/status-tag.tsx';
import { UsageMeter } from '../ui/usage-meter.tsx';
import { homeTexts } from './texts.ts';

const getName = ({ tenantName, tenantId }: { tenantName: string | null; tenantId: string }) => tenantName || tenantId;

/** The current tenant and its descendants that expire soon, ordered by date. */
export function ExpiringTenants({ tenants }: { tenants: Overview['endingSoon'] }) {
  const t = useTexts(homeTexts);
  const { tenant } = useMe();
  return (
    <Card title={t.expiring}>
      {tenants.length === 0 ? (
        <p className="secondary home-hint">{t.noneExpiring}</p>
      ) : (
        <ul className="item-list home-tenant-list">
          {tenants.map((item) => {
            const isOwn = item.tenantId === tenant.tenantId;
            return (
              <li key={item.id}>
                <div>
                  {/* Only administrators of an ancestor can manage the current tenant. */}
                  {isOwn ? <strong>{getName(item)}</strong> : <Link to={`/tenants/${item.id}`}>{getName(item)}</Link>}{' '}
                  {isOwn && <StatusTag tone="success">{t.own}</StatusTag>}
                  {item.status === '1' && <StatusTag>{t.disabled}</StatusTag>}
                  <div className="secondary">{t.expiresOn(item.endTime)}</div>
                </div>
                <span className={item.daysLeft <= 14 ? 'usage-warning' : 'secondary'}>{t.daysLeft(item.daysLeft)}</span>
              </li>
            );
          })}
        </ul>
      )}
    </Card>
  );
}

/** Child tenants that have nearly reached their account limit. */
export function NearlyFullTenants({ tenants }: { tenants: Overview['full'] }) {
  const t = useTexts(homeTexts);
  const { accountCount } = useTexts(quotaTexts);
  if (tenants.length === 0) return null;
  return (
    <Card title={t.nearlyFull}>
      <ul className="item-list home-tenant-list">
        {tenants.map((item) => (
          <li key={item.id} className="home-nearly-full">
            <div>
              <Link to={`/tenants/${item.id}`}>{getName(item)}</Link>
              <Link to={`/people?tenantId=${item.tenantId}`} aria-label={t.usersOf(getName(item))}>
                {t.viewUsers}
              </Link>
            </div>
            <UsageMeter name={accountCount} used={item.used} total={item.limit} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
