import { useQuery } from '@tanstack/react-query';
import { Table } from 'antd';
import { Link } from 'react-router';
import { api, type QuotaBelow } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { useQuotaName } from '../ui/quota-texts.ts';
import { QuotaTotal } from '../ui/quota-total.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { UsageMeter } from '../ui/usage-meter.tsx';
import { usageTexts } from '../ui/usage-texts.ts';
import { useIsPhone } from '../ui/use-is-phone.ts';
import { formatPerDay, getForecast } from './forecast.ts';
import { RunsOut } from './runs-out.tsx';
import { quotasTexts } from './texts.ts';

const PAGE_SIZE = 20;

/** The quotas in use of the tenants below, in the order of the service: those that run out first at the top. */
export function QuotasBelow() {
  const t = useTexts(quotasTexts);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.quotas.below,
    queryFn: ({ signal }) => api.listQuotasBelow(signal),
    staleTime: 0,
  });
  const { rows = [], total = 0 } = data?.data ?? {};
  return (
    <Card className="quotas-below" aria-label={t.below}>
      {error && !data ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty text={t.noneBelow} />
      ) : (
        <Rows rows={rows} />
      )}
      {total > rows.length && <p className="secondary quotas-largest">{t.largest(rows.length)}</p>}
    </Card>
  );
}

function Rows({ rows }: { rows: QuotaBelow[] }) {
  const t = useTexts(quotasTexts);
  const u = useTexts(usageTexts);
  const isPhone = useIsPhone();
  const pagination = rows.length > PAGE_SIZE && {
    pageSize: PAGE_SIZE,
    showSizeChanger: false,
    className: 'quotas-pagination',
    onChange: () => window.scrollTo({ top: 0 }),
  };
  if (isPhone)
    return (
      <ul className="item-list quotas-list">
        {rows.map((row) => (
          <li key={keyOf(row)}>
            <TenantLink row={row} />
            <QuotaLink row={row} />
            <RowMeter row={row} />
            <div>
              <RunsOut quota={row} recent={row.recent} />
            </div>
            <QuotaTotal tenant={row} quota={row} />
          </li>
        ))}
      </ul>
    );
  return (
    <Table<QuotaBelow>
      className="quotas-table"
      size="middle"
      rowKey={keyOf}
      dataSource={rows}
      pagination={pagination}
      tableLayout="fixed"
      scroll={{ x: 900 }}
      columns={[
        { key: 'tenant', title: t.tenant, width: '18%', render: (_, row) => <TenantLink row={row} /> },
        { key: 'quota', title: u.quota, width: '14%', render: (_, row) => <QuotaLink row={row} /> },
        { key: 'used', title: u.used, render: (_, row) => <RowMeter row={row} /> },
        {
          key: 'perDay',
          title: t.perDay,
          width: 120,
          align: 'right',
          className: 'quotas-number',
          render: (_, row) => formatPerDay(getForecast(row, row.recent).perDay),
        },
        {
          key: 'runsOut',
          title: t.runsOut,
          width: 170,
          render: (_, row) => <RunsOut quota={row} recent={row.recent} />,
        },
        {
          key: 'actions',
          title: u.actions,
          width: 230,
          align: 'end',
          fixed: 'right',
          render: (_, row) => (
            <div className="row-actions">
              <QuotaTotal tenant={row} quota={row} />
            </div>
          ),
        },
      ]}
    />
  );
}

const keyOf = ({ tenantId, quota }: QuotaBelow) => `${tenantId}/${quota}`;

function TenantLink({ row: { id, tenantId, tenantName } }: { row: QuotaBelow }) {
  return (
    <div>
      <Link to={`/tenants/${id}`}>{tenantName || tenantId}</Link>
      <div className="secondary">{tenantId}</div>
    </div>
  );
}

function QuotaLink({ row: { quota, tenantId, pooled } }: { row: QuotaBelow }) {
  const u = useTexts(usageTexts);
  const nameOf = useQuotaName();
  return (
    <div>
      <Link to={`/quotas/${quota}?tenantId=${tenantId}`}>{nameOf(quota)}</Link>{' '}
      {pooled && <StatusTag>{u.pooled}</StatusTag>}
    </div>
  );
}

function RowMeter({ row: { quota, used, total, reserved } }: { row: QuotaBelow }) {
  const nameOf = useQuotaName();
  return <UsageMeter name={nameOf(quota)} used={used} total={total} reserved={reserved} hidesName />;
}
