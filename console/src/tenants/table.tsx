import { Button, Grid, Table, type TableColumnsType, Tag } from 'antd';
import { Link } from 'react-router';
import type { Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { ActionMenu } from './actions.tsx';
import { fieldTexts } from './field-texts.ts';
import { Ends } from './period-bar.tsx';
import { tenantsTexts } from './texts.ts';

interface Rows {
  rows: Tenant[];
  loading: boolean;
  byEnd: boolean;
  sortByEnd: (yes: boolean) => void;
}

export function TenantTable(table: Rows) {
  return Grid.useBreakpoint().md === false ? <Cards {...table} /> : <Wide {...table} />;
}

function Wide({ rows, loading, byEnd, sortByEnd }: Rows) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const columns: TableColumnsType<Tenant> = [
    { title: t.name, key: 'name', render: (_, tenant) => <Name tenant={tenant} /> },
    { title: f.tenantId, dataIndex: 'tenantId', width: 100 },
    { title: f.tenantParent, dataIndex: 'tenantParent', width: 110, responsive: ['xxl'] },
    { title: f.status, key: 'status', width: 80, render: (_, tenant) => <StatusTag status={tenant.status} /> },
    {
      title: t.end,
      key: 'endTime',
      width: 160,
      sorter: true,
      sortOrder: byEnd ? 'ascend' : null,
      // One direction: what ends first is on top, and once more for the order of creation.
      sortDirections: ['ascend'],
      showSorterTooltip: { title: t.sortByEnd },
      render: (_, tenant) => (
        <>
          {tenant.endTime && <div>{tenant.endTime}</div>}
          <Ends period={tenant} />
        </>
      ),
    },
    {
      title: f.accountCount,
      key: 'accounts',
      width: 105,
      responsive: ['xl'],
      render: (_, tenant) => accountsOf(tenant, f.unlimited),
    },
    {
      title: t.actions,
      key: 'actions',
      width: 120,
      render: (_, tenant) => <RowActions tenant={tenant} />,
    },
  ];
  return (
    <Table<Tenant>
      rowKey="id"
      columns={columns}
      dataSource={rows}
      loading={loading}
      pagination={false}
      scroll={{ x: 720 }}
      onChange={(_page, _filters, sorter) => sortByEnd(!Array.isArray(sorter) && sorter.order === 'ascend')}
    />
  );
}

/** On a phone a row is a card. */
function Cards({ rows, byEnd, sortByEnd }: Rows) {
  const t = useTexts(tenantsTexts);
  return (
    <>
      <Button size="small" aria-pressed={byEnd} type={byEnd ? 'primary' : 'default'} onClick={() => sortByEnd(!byEnd)}>
        {t.sortByEnd}
      </Button>
      <ul className="rows tenants-cards">
        {rows.map((tenant) => (
          <li key={tenant.id}>
            <div className="tenants-card">
              <Name tenant={tenant} />
              <div className="quiet">
                {tenant.tenantId} <StatusTag status={tenant.status} />
              </div>
              <Ends period={tenant} />
            </div>
            <RowActions tenant={tenant} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Name({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const own = useMe().tenant.id === tenant.id;
  return (
    <div>
      <Link to={`/tenants/${tenant.id}`}>
        <strong>{tenant.tenantName || tenant.tenantId}</strong>
      </Link>{' '}
      {own && <Tag className="tenants-tag">{t.own}</Tag>}
      {tenant.companyName && <div className="quiet">{tenant.companyName}</div>}
    </div>
  );
}

export function StatusTag({ status }: { status: '0' | '1' }) {
  const t = useTexts(fieldTexts);
  return status === '0' ? <Tag className="tenants-tag">{t.normal}</Tag> : <Tag>{t.disabled}</Tag>;
}

export const accountsOf = ({ accountCount }: Tenant, unlimited: string) =>
  accountCount === -1 ? unlimited : String(accountCount);

function RowActions({ tenant }: { tenant: Tenant }) {
  const t = useTexts(tenantsTexts);
  const name = tenant.tenantName || tenant.tenantId;
  return (
    <span className="tenants-actions">
      <Link to={`/people?tenantId=${tenant.tenantId}`} aria-label={t.peopleOf(name)}>
        {t.people}
      </Link>
      <ActionMenu tenant={tenant} compact />
    </span>
  );
}
