import { Button, Grid, Table, type TableColumnsType } from 'antd';
import { Link } from 'react-router';
import type { ListedTenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { createMediaQueryStore, useStore } from '../store.ts';
import { useDensity } from '../ui/list-settings.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { RenewButton } from '../ui/tenant-buttons.tsx';
import { getTenantState, type TenantState } from '../ui/tenant-period.ts';
import { TenantStateTag } from '../ui/tenant-state-tag.tsx';
import { fieldTexts } from './field-texts.ts';
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

/** Whether the window is wide enough to show the table without horizontal scrolling. */
const wideScreen = createMediaQueryStore('(min-width: 1280px)');

function DesktopTable({ rows, loading, sortedByEnd, onSortByEnd }: TableProps) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const columns: TableColumnsType<ListedTenant> = [
    { title: t.name, key: 'name', render: (_, tenant) => <TenantName tenant={tenant} /> },
    {
      title: f.tenantParent,
      key: 'parent',
      width: 160,
      responsive: ['xxl'],
      render: (_, tenant) => tenant.parentName || tenant.tenantParent,
    },
    { title: f.status, key: 'status', width: 112, render: (_, tenant) => <TenantStateTag tenant={tenant} /> },
    {
      title: t.end,
      key: 'endTime',
      width: 124,
      sorter: true,
      sortOrder: sortedByEnd ? 'ascend' : null,
      // The service sorts ascending only. A second click restores the order of creation.
      sortDirections: ['ascend'],
      showSorterTooltip: { title: t.sortByEnd },
      render: (_, tenant) => (
        <>
          {tenant.endTime && <div>{tenant.endTime}</div>}
          <PeriodStatus tenant={tenant} />
        </>
      ),
    },
    {
      title: t.usedOfLimit,
      key: 'accounts',
      width: 120,
      render: (_, tenant) => <UsersOfLimit tenant={tenant} />,
    },
    {
      title: t.actions,
      key: 'actions',
      width: 132,
      align: 'end',
      fixed: 'right',
      render: (_, tenant) => <RowActions tenant={tenant} />,
    },
  ];
  return (
    <Table<ListedTenant>
      className="sticky-table"
      rowKey="id"
      size={useDensity()}
      columns={columns}
      dataSource={rows}
      loading={loading}
      pagination={false}
      tableLayout="fixed"
      // Within an element that scrolls, the header could not stick to the top of the page.
      {...(useStore(wideScreen) ? {} : { scroll: { x: 630 } })}
      onChange={(_page, _filters, sorter) => onSortByEnd(!Array.isArray(sorter) && sorter.order === 'ascend')}
    />
  );
}

function PhoneList({ rows, sortedByEnd, onSortByEnd }: TableProps) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
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
            <TenantName tenant={tenant} />
            <div className="tenants-phone-facts">
              <TenantStateTag tenant={tenant} />
              {tenant.endTime && <span>{tenant.endTime}</span>}
              <PeriodStatus tenant={tenant} />
            </div>
            <div className="tenants-phone-facts">
              {tenant.users !== undefined && <span className="secondary">{f.accountCount}</span>}
              <UsersOfLimit tenant={tenant} />
              <RowActions tenant={tenant} />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

function TenantName({ tenant }: { tenant: ListedTenant }) {
  const t = useTexts(tenantsTexts);
  const isOwn = useMe().tenant.id === tenant.id;
  const company = tenant.companyName === tenant.tenantName ? null : tenant.companyName;
  const parent = tenant.parentName && t.below(tenant.parentName);
  return (
    <div>
      <Link to={`/tenants/${tenant.id}`}>
        <strong>{tenant.tenantName || tenant.tenantId}</strong>
      </Link>{' '}
      {isOwn && <StatusTag tone="success">{t.own}</StatusTag>}
      <div className="secondary">
        {[tenant.tenantId, company].filter(Boolean).join(' · ')}
        {parent && <span className="tenants-parent"> · {parent}</span>}
      </div>
    </div>
  );
}

export function UsersOfLimit({ tenant: { users, accountCount } }: { tenant: ListedTenant }) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  if (users === undefined) return null;
  const isFull = accountCount >= 0 && users >= accountCount;
  const isNearlyFull = accountCount >= 0 && users >= 0.8 * accountCount;
  return (
    <span
      className={isFull ? 'usage-danger' : isNearlyFull ? 'usage-warning' : ''}
      title={isFull ? t.userLimitReached : ''}
    >
      {users.toLocaleString()} / {accountCount === -1 ? f.unlimited : accountCount.toLocaleString()}
    </span>
  );
}

/** Tenants in these states have the renew button in their row; for others it is only in the menu. */
const NEEDS_RENEWAL: ReadonlySet<TenantState> = new Set(['expiring', 'ended']);

function RowActions({ tenant }: { tenant: ListedTenant }) {
  const t = useTexts(tenantsTexts);
  const isOwn = useMe().tenant.id === tenant.id;
  const name = tenant.tenantName || tenant.tenantId;
  return (
    <span className="row-actions">
      {!isOwn && NEEDS_RENEWAL.has(getTenantState(tenant)) && <RenewButton tenant={tenant} type="link" />}
      <Link to={`/people?tenantId=${tenant.tenantId}`} aria-label={t.usersOf(name)}>
        {t.users}
      </Link>
      <ActionMenu tenant={tenant} compact />
    </span>
  );
}
