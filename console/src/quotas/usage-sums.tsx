import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { api, type Quota, type UsageFilter, type UsageSum } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { useUrlParams } from '../ui/use-url-params.ts';
import { DepartmentName, KeyName, TenantName, UserName } from './names.tsx';
import { sumsTexts } from './texts.ts';

type By = NonNullable<UsageFilter['by']>;
const GROUPS: readonly By[] = ['user', 'key', 'subject', 'department'];
/** The others are summed up in one row. */
const MAX_ROWS = 10;

interface Props {
  quota: Quota;
  tenantId: string | undefined;
  from: string;
}

interface Sum {
  value: string | number | null;
  amount: number;
  uses: number;
}

/** Who or what has used a quota, the largest amounts first. */
export function UsageSums({ quota, tenantId, from }: Props) {
  const t = useTexts(sumsTexts);
  const [params, update] = useUrlParams();
  const groups = quota.pooled ? (['tenant', ...GROUPS] as const) : GROUPS;
  const by = groups.find((each) => each === params.get('by')) ?? 'user';
  // By month, so that there are fewer rows.
  const filter = { tenantId, quota: quota.quota, from, by, per: 'month' as const };
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.quotas.sums(filter),
    queryFn: async ({ signal }) => ({ sums: (await api.readUsage(filter, signal)).data, by }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  return (
    <Card
      className="quotas-card"
      title={t.title}
      extra={
        <Select<By>
          aria-label={t.by}
          className="quotas-by"
          value={by}
          onChange={(next) => update({ by: next === 'user' ? null : next }, { replace: true })}
          options={groups.map((value) => ({ value, label: t[value] }))}
        />
      }
    >
      {error && !data ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : data.sums.length === 0 ? (
        <p className="secondary quotas-hint">{t.empty}</p>
      ) : (
        <SumTable by={data.by} sums={getSums(data.sums, data.by)} tenantId={tenantId} />
      )}
    </Card>
  );
}

const FIELDS = { user: 'userId', key: 'keyId', subject: 'subject', department: 'deptId', tenant: 'tenantId' } as const;

function getSums(rows: UsageSum[], by: By): Sum[] {
  const sums = new Map<Sum['value'], Sum>();
  for (const { amount, uses, ...row } of rows) {
    const value = row[FIELDS[by]] ?? null;
    const sum = sums.get(value) ?? { value, amount: 0, uses: 0 };
    sums.set(value, { value, amount: sum.amount + amount, uses: sum.uses + uses });
  }
  return [...sums.values()].sort((a, b) => b.amount - a.amount);
}

function SumTable({ by, sums, tenantId }: { by: By; sums: Sum[]; tenantId: string | undefined }) {
  const t = useTexts(sumsTexts);
  const all = sums.reduce((sum, { amount }) => sum + amount, 0);
  const others = sums.slice(MAX_ROWS);
  const add = (field: 'amount' | 'uses') => others.reduce((sum, each) => sum + each[field], 0);
  const share = (amount: number) => `${((amount / all) * 100).toFixed(amount === all ? 0 : 1)}%`;
  return (
    <table className="comparison-table quotas-sums">
      <thead>
        <tr>
          <th scope="col">{t[by]}</th>
          <th scope="col">{t.amount}</th>
          <th scope="col">{t.share}</th>
          <th scope="col">{t.uses}</th>
        </tr>
      </thead>
      <tbody>
        {sums.slice(0, MAX_ROWS).map(({ value, amount, uses }) => (
          <tr key={String(value)}>
            <th scope="row">
              <GroupName by={by} value={value} tenantId={tenantId} />
            </th>
            <td>{amount.toLocaleString()}</td>
            <td>{share(amount)}</td>
            <td>{uses.toLocaleString()}</td>
          </tr>
        ))}
        {others.length > 0 && (
          <tr>
            <th scope="row" className="secondary">
              {t.others(others.length)}
            </th>
            <td>{add('amount').toLocaleString()}</td>
            <td>{share(add('amount'))}</td>
            <td>{add('uses').toLocaleString()}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function GroupName({ by, value, tenantId }: { by: By; value: Sum['value']; tenantId: string | undefined }) {
  const t = useTexts(sumsTexts);
  if (value === null) {
    const names = { user: t.noUser, key: t.noKey, subject: t.noSubject, department: t.noDepartment, tenant: '' };
    return <span className="secondary">{names[by]}</span>;
  }
  switch (by) {
    case 'user':
      return <UserName id={Number(value)} tenantId={tenantId} />;
    case 'key':
      return <KeyName id={Number(value)} />;
    case 'department':
      return <DepartmentName id={Number(value)} tenantId={tenantId} />;
    case 'tenant':
      return <TenantName tenantId={String(value)} />;
    default:
      return value;
  }
}
