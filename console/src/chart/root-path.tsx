import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, type Id } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { endOfDay } from '../ui/day-picker.tsx';
import { readTenantName } from './read-chart.ts';
import { chartTexts } from './texts.ts';

/**
 * The path to the root of the chart, as it was at the end of `day`; without a day, as it is now. Errors are not shown here: the
 * chart itself shows them.
 */
export function RootPath({ id, day }: { id: string; day: string | undefined }) {
  const t = useTexts(chartTexts);
  const { tenant } = useMe();
  const currentName = tenant.tenantName || tenant.tenantId;
  const { data: pastName, isError } = useQuery({
    queryKey: queryKeys.tenants.nameOn(tenant.id, day),
    queryFn: ({ signal }) => readTenantName({ tenant: { id: tenant.id, name: currentName }, day }, signal),
    enabled: day !== undefined,
  });
  const { data = [] } = useQuery({
    queryKey: queryKeys.departments.path(id, day),
    queryFn: ({ signal }) => readPath(id, day && endOfDay(day), signal),
  });
  const search = day ? `?day=${day}` : '';
  return (
    <nav aria-label={t.path}>
      <ol className="chart-path">
        <li>
          <Link to={`/chart${search}`}>{day && !isError ? (pastName ?? '…') : currentName}</Link>
        </li>
        {data.map(({ deptId, deptName }) => (
          <li key={deptId} aria-current={String(deptId) === id ? 'page' : undefined}>
            {String(deptId) === id ? (
              deptName || t.unnamed
            ) : (
              <Link to={`/chart/${deptId}${search}`}>{deptName || t.unnamed}</Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

interface PathItem {
  deptId: Id;
  deptName: string;
}

async function readPath(id: string, asOf: string | undefined, signal: AbortSignal): Promise<PathItem[]> {
  const { data: dept } = await api.readDepartment(id, signal, { asOf });
  const ancestorIds = dept.ancestors.split(',').filter((ancestor) => ancestor !== '0');
  if (ancestorIds.length === 0) return [dept];
  // Batch reads return only the present, and at most 500 departments. Any child of the same parent has the names of the path.
  const siblings = { parentId: String(dept.parentId), withPath: true, pageSize: 1, ...(asOf ? { asOf } : {}) };
  const [sibling] = (await api.listDepartments(siblings, signal)).data.rows;
  const ancestors = ancestorIds.map((deptId, n) => ({ deptId, deptName: sibling?.pathNames?.[n] ?? '' }));
  return [...ancestors, dept];
}
