import { useQuery } from '@tanstack/react-query';
import { Card, Descriptions, Tag } from 'antd';
import { Link } from 'react-router';
import { api, type Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { fieldTexts } from './field-texts.ts';
import { Ends } from './period-bar.tsx';
import { accountsOf, StatusTag } from './table.tsx';
import { tenantsTexts } from './texts.ts';
import { menusOf, QUOTAS, RULES } from './values.ts';

/** Everything that a read tells of a tenant. */
export function FactCards({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const menus = menusOf(tenant);
  return (
    <>
      <Card title={<h2>{t.facts}</h2>}>
        <Descriptions
          column={{ xs: 1, sm: 2, xl: 3 }}
          items={[
            { key: 'code', label: f.tenantId, children: tenant.tenantId },
            { key: 'parent', label: f.tenantParent, children: tenant.tenantParent ?? '—' },
            { key: 'accounts', label: t.accountLimit, children: accountsOf(tenant, f.unlimited) },
            { key: 'company', label: f.companyName, children: tenant.companyName || '—' },
            { key: 'contact', label: f.contactUserName, children: tenant.contactUserName || '—' },
            { key: 'phone', label: f.contactPhone, children: tenant.contactPhone || '—' },
          ]}
        />
      </Card>
      <Children tenant={tenant} />
      <Card title={<h2>{t.menus}</h2>}>
        {menus.length === 0 && <span className="quiet">{t.noMenus}</span>}
        <div className="tenants-tags">
          {menus.map((menu) => (
            <Tag key={menu}>{menu}</Tag>
          ))}
        </div>
      </Card>
      <Card title={<h2>{f.quotas}</h2>}>
        <Descriptions
          column={{ xs: 1, sm: 2, xl: 3 }}
          items={QUOTAS.map((key) => ({ key, label: f[key], children: tenant.quotaBo[key].toLocaleString() }))}
        />
        <p className="quiet tenants-last">{t.hiddenNote}</p>
      </Card>
      <Rules tenant={tenant} />
    </>
  );
}

function Rules({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const set = RULES.filter((key) => tenant.ruleBo[key]);
  return (
    <Card title={<h2>{f.rules}</h2>}>
      {set.length === 0 && <span className="quiet">{t.noRules}</span>}
      {set.map((key) => (
        <details key={key} className="tenants-details">
          <summary>
            {f[key]} <span className="quiet">{f.chars(tenant.ruleBo[key]?.length ?? 0)}</span>
          </summary>
          <pre>{tidied(tenant.ruleBo[key] ?? '')}</pre>
        </details>
      ))}
    </Card>
  );
}

function tidied(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const SOME = 10;

function Children({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const filter = { tenantParent: tenant.tenantId, pageSize: SOME };
  const { data, error, refetch } = useQuery({
    queryKey: ['tenant-list', filter],
    queryFn: ({ signal }) => api.listTenants(filter, signal),
  });
  const { rows = [], total = 0 } = data?.data ?? {};
  return (
    <Card
      title={
        <h2>
          {t.children} {total > 0 && <span className="quiet">{total}</span>}
        </h2>
      }
      extra={total > 0 && <Link to={`/tenants?parent=${tenant.tenantId}`}>{t.allChildren}</Link>}
    >
      {error ? <Failed error={error} retry={refetch} /> : !data && <Loading />}
      {data && rows.length === 0 && <span className="quiet">{t.none}</span>}
      <ul className="rows tenants-children">
        {rows.map((child) => (
          <li key={child.id}>
            <span>
              <Link to={`/tenants/${child.id}`}>{child.tenantName || child.tenantId}</Link>{' '}
              <span className="quiet">{child.tenantId}</span>
            </span>
            <span>
              {child.status === '1' && <StatusTag status="1" />} <Ends period={child} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
