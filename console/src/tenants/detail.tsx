import { EditOutlined, PlusOutlined, TeamOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Alert, Breadcrumb, Button, Card } from 'antd';
import { Link, useLocation, useNavigate, useParams } from 'react-router';
import { api, type Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { ActionMenu } from './actions.tsx';
import { Created } from './created.tsx';
import { FactCards } from './facts.tsx';
import { newBelow } from './new-below.ts';
import { pathTo } from './path.ts';
import { spanOf } from './period.ts';
import { Axis, datesOf, Ends, PeriodBar } from './period-bar.tsx';
import { StatusTag } from './table.tsx';
import { tenantsTexts } from './texts.ts';

export function TenantDetail() {
  const t = useTexts(tenantsTexts);
  const { id = '' } = useParams();
  const { data, error, refetch } = useQuery({
    queryKey: ['tenant', id],
    queryFn: ({ signal }) => api.readTenant(id, signal),
  });
  if (data) return <Shown key={id} tenant={data.data} />;
  return (
    <>
      <PageTitle title={t.title} />
      {error ? <Failed error={error} retry={refetch} /> : <Loading />}
    </>
  );
}

function Shown({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const { tenant: own } = useMe();
  const mine = own.id === tenant.id;
  const navigate = useNavigate();
  const { state, pathname } = useLocation();
  const created = (state as { created?: { username: string } } | null)?.created;
  return (
    <div className="cards">
      <Path tenant={tenant} />
      <PageTitle title={tenant.tenantName || tenant.tenantId}>
        <Button icon={<TeamOutlined />} onClick={() => navigate(`/people?tenantId=${tenant.tenantId}`)}>
          {t.people}
        </Button>
        {mine ? (
          <Button type="primary" icon={<PlusOutlined />} onClick={() => navigate(newBelow(tenant.tenantId))}>
            {t.createBelow}
          </Button>
        ) : (
          <>
            <Button type="primary" icon={<EditOutlined />} onClick={() => navigate(`/tenants/${tenant.id}/edit`)}>
              {t.edit}
            </Button>
            <ActionMenu tenant={tenant} />
          </>
        )}
      </PageTitle>
      {created && (
        <Created
          tenant={tenant}
          username={created.username}
          close={() => navigate(pathname, { replace: true, state: null })}
        />
      )}
      {mine && <Alert type="info" showIcon title={t.ownHint} />}
      {tenant.status === '1' && <Alert type="warning" showIcon title={t.disabledHint} />}
      <PeriodCard tenant={tenant} />
      <FactCards tenant={tenant} />
    </div>
  );
}

function Path({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const { tenant: own } = useMe();
  const { data = [] } = useQuery({
    queryKey: ['tenant', tenant.id, 'path'],
    queryFn: ({ signal }) => pathTo(tenant.id, own.tenantId, signal),
  });
  const above = data.slice(0, -1);
  return (
    <nav aria-label={t.path}>
      <Breadcrumb
        items={[
          { key: 'all', title: <Link to="/tenants">{t.title}</Link> },
          ...above.map((one) => ({
            key: one.id,
            title: <Link to={`/tenants/${one.id}`}>{one.tenantName || one.tenantId}</Link>,
          })),
          { key: tenant.id, title: tenant.tenantName || tenant.tenantId },
        ]}
      />
    </nav>
  );
}

function PeriodCard({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const span = spanOf(tenant);
  return (
    <Card
      title={<h2>{t.service}</h2>}
      extra={
        <>
          <StatusTag status={tenant.status} /> <Ends period={tenant} />
        </>
      }
    >
      <p className="tenants-period">{datesOf(tenant, t)}</p>
      <PeriodBar period={tenant} span={span} />
      <Axis span={span} />
    </Card>
  );
}
