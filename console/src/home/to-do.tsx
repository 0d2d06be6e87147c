import { Link } from 'react-router';
import type { Overview } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { RenewButton, UserLimitButton } from '../ui/tenant-buttons.tsx';
import { TenantStateTag } from '../ui/tenant-state-tag.tsx';
import { homeTexts } from './texts.ts';

const getName = ({ tenantName, tenantId }: { tenantName: string | null; tenantId: string }) => tenantName || tenantId;

/** The tenants that need attention. All but the user's own have a button for what has to be done. */
export function ToDo({ endingSoon, full }: Pick<Overview, 'endingSoon' | 'full'>) {
  const t = useTexts(homeTexts);
  return (
    <Card title={t.toDo}>
      {endingSoon.length + full.length === 0 ? (
        <p className="secondary home-hint">{t.nothingToDo}</p>
      ) : (
        <ul className="item-list home-to-do">
          {endingSoon.map((tenant) => (
            <ExpiringTenant key={`end-${tenant.id}`} tenant={tenant} />
          ))}
          {full.map((tenant) => (
            <FullTenant key={`full-${tenant.id}`} tenant={tenant} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function ExpiringTenant({ tenant }: { tenant: Overview['endingSoon'][number] }) {
  const t = useTexts(homeTexts);
  const isOwn = useMe().tenant.tenantId === tenant.tenantId;
  const { daysLeft } = tenant;
  const tone = tenant.status === '1' ? 'secondary' : daysLeft < 0 ? 'usage-danger' : 'usage-warning';
  return (
    <li>
      <div>
        {/* Only administrators of an ancestor can manage the current tenant. */}
        {isOwn ? <strong>{getName(tenant)}</strong> : <Link to={`/tenants/${tenant.id}`}>{getName(tenant)}</Link>}{' '}
        {isOwn && <StatusTag>{t.own}</StatusTag>} <TenantStateTag tenant={tenant} />
        <div className="home-facts">
          <span className={tone}>{t.daysLeft(daysLeft)}</span>
          <span className="secondary">{isOwn ? t.renewOwn(tenant.endTime) : t.expiresOn(tenant.endTime)}</span>
        </div>
      </div>
      {!isOwn && <RenewButton tenant={tenant} />}
    </li>
  );
}

/** A child tenant that has reached its user limit, or soon will. */
function FullTenant({ tenant }: { tenant: Overview['full'][number] }) {
  const t = useTexts(homeTexts);
  const { used, limit } = tenant;
  const left = Math.max(0, limit - used);
  return (
    <li>
      <div>
        <Link to={`/tenants/${tenant.id}`}>{getName(tenant)}</Link>{' '}
        <StatusTag tone={left > 0 ? 'warning' : 'error'}>{left > 0 ? t.limitNearlyReached : t.limitReached}</StatusTag>
        <div className="home-facts">
          <span className={left > 0 ? 'usage-warning' : 'usage-danger'}>
            {t.usedOfLimit(used.toLocaleString(), limit.toLocaleString())}
          </span>
          <span className="secondary">{t.usersLeft(left)}</span>
          <Link to={`/people?tenantId=${tenant.tenantId}`} aria-label={t.viewUsersOf(getName(tenant))}>
            {t.viewUsers}
          </Link>
        </div>
      </div>
      <UserLimitButton tenant={tenant} />
    </li>
  );
}
