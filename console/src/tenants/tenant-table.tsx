import { Button, Grid, Table, type TableColumnsType } from 'antd';
import { Link } from 'react-router';
import type { ListedTenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { StatusTag } from '../ui/status-tag.tsx';
import { fieldTexts } from './field-texts.ts';
import { getServiceState } from './period.ts';
import { PeriodStatus } from './period-bar.tsx';
import { ActionMenu } from './tenant-actions.tsx';
import { tenantsTexts } from './texts.ts';

interface TableProps {
  rows: ListedTenant[];
  loading: boolean;
  sortedByEnd: boolean;
  onSortByEnd: (isSorted: boolean) => void;
}

export function TenantTable(props: TableProps) {
  return Grid.useBreakpoint().md === false ? <PhoneList {...props} /> : <DesktopTable {...props} />;
}

function DesktopTable({ rows, loading, sortedByEnd, onSortByEnd }: TableProps) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const columns: TableColumnsType<ListedTenant> = [
    { title: t.name, key: 'name', render: (_, tenant) => <TenantName tenant={tenant} /> },
    { title: f.tenantId, dataIndex: 'tenantId', width: 100 },
    { title: f.tenantParent, dataIndex: 'tenantParent', width: 110, responsive: ['xxl'] },
    { title: f.status, key: 'status', width: 100, render: (_, tenant) => <TenantStatusTag tenant={tenant} /> },
    {
      title: t.end,
      key: 'endTime',
      width: 160,
      sorter: true,
      sortOrder: sortedByEnd ? 'ascend' : null,
      // The service sorts ascending only. A second click restores the order of creation.
      sortDirections: ['ascend'],
      showSorterTooltip: { title: t.sortByEnd },
      render: (_, tenant) => (
        <>
          {tenant.endTime && <div>{tenant.endTime}</div>}
          <PeriodStatus period={tenant} />
        </>
      ),
    },
    {
      title: f.accountCount,
      key: 'accounts',
      width: 105,
      responsive: ['xl'],
      render: (_, tenant) => formatAccountLimit(tenant, f.unlimited),
    },
    {
      title: t.actions,
      key: 'actions',
      width: 120,
      render: (_, tenant) => <RowActions tenant={tenant} />,
    },
  ];
  return (
    <Table<ListedTenant>
      rowKey="id"
      columns={columns}
      dataSource={rows}
      loading={loading}
      pagination={false}
      scroll={{ x: 720 }}
      onChange={(_page, _filters, sorter) => onSortByEnd(!Array.isArray(sorter) && sorter.order === 'ascend')}
    />
  );
}

function PhoneList({ rows, sortedByEnd, onSortByEnd }: TableProps) {
  const t = useTexts(tenantsTexts);
  return (
    <>
      <Button
        size="small"
        aria-pressed={sortedByEnd}
        type={sortedByEnd ? 'primary' : 'default'}
        onClick={() => onSortByEnd(!sortedByEnd)}
      >
        {t.sortByEnd}
      </Button>
      <ul className="item-list tenants-phone-list">
        {rows.map((tenant) => (
          <li key={tenant.id}>
            <div className="tenants-phone-item">
              <TenantName tenant={tenant} />
              <div className="secondary">
                {tenant.tenantId} <TenantStatusTag tenant={tenant} />
              </div>
              <PeriodStatus period={tenant} />
            </div>
            <RowActions tenant={tenant} />
          </li>
        ))}
      </ul>
    </>
  );
}

function TenantName({ tenant }: { tenant: ListedTenant }) {
  const t = useTexts(tenantsTexts);
  const isOwn = useMe().tenant.id === tenant.id;
  return (
    <div>
      <Link to={`/tenants/${tenant.id}`}>
        <strong>{tenant.tenantName || tenant.tenantId}</strong>
      </Link>{' '}
      {isOwn && <StatusTag tone="success">{t.own}</StatusTag>}
      {tenant.companyName && <div className="secondary">{tenant.companyName}</div>}
    </div>
  );
}

/** Whether a tenant can be used: an enabled tenant outside its service period is not "normal". */
export function TenantStatusTag({ tenant }: { tenant: ListedTenant }) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  switch (getServiceState(tenant)) {
    case 'disabled':
      return <StatusTag>{f.disabled}</StatusTag>;
    case 'ended':
      return <StatusTag tone="error">{t.legendEnded}</StatusTag>;
    case 'upcoming':
      return <StatusTag tone="warning">{t.legendUpcoming}</StatusTag>;
    default:
      return <StatusTag tone="success">{f.normal}</StatusTag>;
  }
}

export const formatAccountLimit = ({ accountCount }: ListedTenant, unlimited: string) =>
  accountCount === -1 ? unlimited : String(accountCount);

function RowActions({ tenant }: { tenant: ListedTenant }) {
  const t = useTexts(tenantsTexts);
  const name = tenant.tenantName || tenant.tenantId;
  return (
    <span className="tenants-row-actions">
      <Link to={`/people?tenantId=${tenant.tenantId}`} aria-label={t.usersOf(name)}>
        {t.users}
      </Link>
      <ActionMenu tenant={tenant} compact />
    </span>
  );
}
