import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, type Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { DescriptionList } from '../ui/description-list.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { UserLimitButton } from '../ui/tenant-buttons.tsx';
import { TenantStateTag } from '../ui/tenant-state-tag.tsx';
import { fieldTexts } from './field-texts.ts';
import { getMenuIds, RULES } from './form-values.ts';
import { formatJson } from './format-json.ts';
import { useMenuNames } from './menu-names.ts';
import { PeriodStatus } from './period-bar.tsx';
import { QuotaCard } from './quota-card.tsx';
import { UsersOfLimit } from './tenant-table.tsx';
import { tenantsTexts } from './texts.ts';

/** The fields of a tenant other than its service period, with its quotas and child tenants. */
export function DetailCards({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const menuIds = getMenuIds(tenant);
  const menuNames = useMenuNames();
  const isOwn = useMe().tenant.id === tenant.id;
  const filter = { tenantId: tenant.tenantId, fields: 'summary' } as const;
  const summary = useQuery({
    queryKey: queryKeys.tenants.list(filter),
    queryFn: ({ signal }) => api.listTenants(filter, signal),
  }).data?.data.rows[0];
  return (
    <>
      <Card title={t.details}>
        <DescriptionList
          items={[
            { label: f.tenantId, value: tenant.tenantId },
            { label: f.tenantParent, value: summary?.parentName || tenant.tenantParent },
            {
              label: f.accountCount,
              value: summary && (
                <>
                  <UsersOfLimit tenant={summary} /> {!isOwn && <UserLimitButton tenant={tenant} />}
                </>
              ),
            },
            { label: f.companyName, value: tenant.companyName },
            { label: f.contactUserName, value: tenant.contactUserName },
            { label: f.contactPhone, value: tenant.contactPhone },
          ]}
        />
      </Card>
      <QuotaCard tenant={tenant} />
      <ChildTenants tenant={tenant} />
      <Card title={t.menus}>
        {menuIds.length === 0 && <span className="secondary">{t.noMenus}</span>}
        <div className="tenants-menus">
          {menuIds.map((menuId) => (
            <StatusTag key={menuId}>
              {menuNames[menuId] ? <span title={menuId}>{menuNames[menuId]}</span> : menuId}
            </StatusTag>
          ))}
        </div>
      </Card>
      <Rules tenant={tenant} />
    </>
  );
}

function Rules({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const rules = RULES.filter((key) => tenant.ruleBo[key]);
  return (
    <Card title={f.rules}>
      {rules.length === 0 && <span className="secondary">{t.noRules}</span>}
      {rules.map((key) => (
        <details key={key} className="tenants-rule-details">
          <summary>
            {f[key]} <span className="secondary">{f.characters(tenant.ruleBo[key]?.length ?? 0)}</span>
          </summary>
          <pre>{formatJson(tenant.ruleBo[key] ?? '')}</pre>
        </details>
      ))}
    </Card>
  );
}

const MAX_CHILDREN = 10;

function ChildTenants({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const filter = { tenantParent: tenant.tenantId, pageSize: MAX_CHILDREN };
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.tenants.list(filter),
    queryFn: ({ signal }) => api.listTenants(filter, signal),
  });
  const { rows = [], total = 0 } = data?.data ?? {};
  return (
    <Card
      title={
        <h2>
          {t.children} {total > 0 && <span className="secondary">{total}</span>}
        </h2>
      }
      extra={total > 0 && <Link to={`/tenants?parent=${tenant.tenantId}`}>{t.allChildren}</Link>}
    >
      {error ? <LoadError error={error} onRetry={refetch} /> : !data && <Loading />}
      {data && rows.length === 0 && <span className="secondary">{t.noChildren}</span>}
      <ul className="item-list tenants-children">
        {rows.map((child) => (
          <li key={child.id}>
            <span>
              <Link to={`/tenants/${child.id}`}>{child.tenantName || child.tenantId}</Link>{' '}
              <span className="secondary">{child.tenantId}</span>
            </span>
            <span>
              <TenantStateTag tenant={child} /> <PeriodStatus tenant={child} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
