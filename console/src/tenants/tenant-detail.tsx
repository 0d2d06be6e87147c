import { EditOutlined, PlusOutlined, TeamOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Alert, Breadcrumb, Button } from 'antd';
import { Link, useLocation, useNavigate, useParams } from 'react-router';
import { api, type Tenant } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { changeTexts } from '../ui/change-texts.ts';
import { DeletedRecord } from '../ui/deleted-record.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { RecordHistory, useRecordHistory } from '../ui/record-history.tsx';
import { Loading } from '../ui/states.tsx';
import { RenewButton } from '../ui/tenant-buttons.tsx';
import { TenantStateTag } from '../ui/tenant-state-tag.tsx';
import { CreatedNotice } from './created-notice.tsx';
import { DetailCards } from './detail-cards.tsx';
import { newTenantPath } from './new-tenant-path.ts';
import { getSpan } from './period.ts';
import { Axis, formatDates, PeriodBar, PeriodStatus } from './period-bar.tsx';
import { readTenantPath } from './read-tenant-path.ts';
import { ActionMenu } from './tenant-actions.tsx';
import { tenantsTexts } from './texts.ts';

export function TenantDetail() {
  const t = useTexts(tenantsTexts);
  const { id = '' } = useParams();
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.tenants.detail(id),
    queryFn: ({ signal }) => api.readTenant(id, signal),
    // The tenant may have been deleted since: an older copy would contradict its history, which is always read again.
    staleTime: 0,
  });
  // A query keeps its data when a later read fails.
  if (data && !isApiError(error, 'TENANT_NOT_FOUND')) return <TenantContent key={id} tenant={data.data} />;
  return (
    <>
      <PageTitle title={t.title} />
      {error ? <UnreadableTenant id={id} error={error} onRetry={refetch} /> : <Loading />}
    </>
  );
}

/** Shown in place of a tenant that cannot be read. One that was deleted or has left the subtree keeps its history. */
function UnreadableTenant({ id, error, onRetry }: { id: string; error: unknown; onRetry: () => void }) {
  const t = useTexts(changeTexts);
  const { data } = useRecordHistory({ resource: 'tenant', id });
  const [latest] = data?.pages[0]?.data.rows ?? [];
  // The last change of a tenant that has left the subtree says where it was before. Nothing of it can be reverted here.
  const hasLeft = latest?.action === 'moved' && !latest.after;
  return (
    <>
      <DeletedRecord resource="tenant" id={id} error={error} onRetry={onRetry} />
      {(!data || latest) && isApiError(error, 'TENANT_NOT_FOUND') && (
        <Card title={t.history}>
          <RecordHistory resource="tenant" id={id} readOnly={hasLeft} />
        </Card>
      )}
    </>
  );
}

/** The code of the tenant that has no parent. */
const ROOT_TENANT = '000000';

function TenantContent({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const { history: historyLabel } = useTexts(changeTexts);
  const { tenant: own } = useMe();
  const isOwn = own.id === tenant.id;
  const navigate = useNavigate();
  const { state, pathname } = useLocation();
  const created = (state as { created?: { username: string } } | null)?.created;
  return (
    <div className="stack">
      <TenantPath tenant={tenant} />
      <PageTitle title={tenant.tenantName || tenant.tenantId}>
        <Button icon={<TeamOutlined />} onClick={() => navigate(`/people?tenantId=${tenant.tenantId}`)}>
          {t.users}
        </Button>
        {isOwn ? (
          <Button type="primary" icon={<PlusOutlined />} onClick={() => navigate(newTenantPath(tenant.tenantId))}>
            {t.createChild}
          </Button>
        ) : (
          <>
            <Button type="primary" icon={<EditOutlined />} onClick={() => navigate(`/tenants/${tenant.id}/edit`)}>
              {t.edit}
            </Button>
            <ActionMenu tenant={tenant} onDeleted={() => navigate('/tenants')} />
          </>
        )}
      </PageTitle>
      {created && (
        <CreatedNotice
          tenant={tenant}
          username={created.username}
          onClose={() => navigate(pathname, { replace: true, state: null })}
        />
      )}
      {isOwn && <Alert type="info" showIcon title={tenant.tenantId === ROOT_TENANT ? t.topHint : t.ownHint} />}
      {tenant.status === '1' && <Alert type="warning" showIcon title={t.disabledHint} />}
      <PeriodCard tenant={tenant} />
      <DetailCards tenant={tenant} />
      <Card title={historyLabel}>
        <RecordHistory resource="tenant" id={tenant.id} />
      </Card>
    </div>
  );
}

function TenantPath({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const { tenant: own } = useMe();
  const { data = [] } = useQuery({
    queryKey: queryKeys.tenants.path(tenant.id),
    queryFn: ({ signal }) => readTenantPath(tenant.id, own.tenantId, signal),
  });
  const ancestors = data.slice(0, -1);
  return (
    <nav aria-label={t.path}>
      <Breadcrumb
        items={[
          { key: 'all', title: <Link to="/tenants">{t.title}</Link> },
          ...ancestors.map((ancestor) => ({
            key: ancestor.id,
            title: <Link to={`/tenants/${ancestor.id}`}>{ancestor.tenantName || ancestor.tenantId}</Link>,
          })),
          { key: tenant.id, title: tenant.tenantName || tenant.tenantId },
        ]}
      />
    </nav>
  );
}

function PeriodCard({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const isOwn = useMe().tenant.id === tenant.id;
  const span = getSpan(tenant);
  return (
    <Card
      title={t.servicePeriod}
      extra={
        <>
          <TenantStateTag tenant={tenant} /> <PeriodStatus tenant={tenant} />{' '}
          {!isOwn && <RenewButton tenant={tenant} />}
        </>
      }
    >
      <p className="tenants-period">{formatDates(tenant, t)}</p>
      <PeriodBar tenant={tenant} span={span} />
      <Axis span={span} />
    </Card>
  );
}
