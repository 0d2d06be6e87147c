import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { chartTexts } from './texts.ts';

/** The path to the root of the chart. Errors are not shown here: the chart itself shows them. */
export function RootPath({ id }: { id: string }) {
  const t = useTexts(chartTexts);
  const { tenant } = useMe();
  const { data = [] } = useQuery({
    queryKey: queryKeys.departments.path(id),
    queryFn: ({ signal }) => readPath(id, signal),
  });
  return (
    <nav aria-label={t.path}>
      <ol className="chart-path">
        <li>
          <Link to="/chart">{tenant.tenantName || tenant.tenantId}</Link>
        </li>
        {data.map(({ deptId, deptName }) => (
          <li key={deptId} aria-current={String(deptId) === id ? 'page' : undefined}>
            {String(deptId) === id ? deptName : <Link to={`/chart/${deptId}`}>{deptName || t.unnamed}</Link>}
          </li>
        ))}
      </ol>
    </nav>
  );
}

async function readPath(id: string, signal: AbortSignal) {
  const { data: dept } = await api.readDepartment(id, signal);
  const ancestorIds = dept.ancestors.split(',').filter((ancestor) => ancestor !== '0');
  const rows = ancestorIds.length > 0 ? (await api.readDepartments(ancestorIds, signal)).data.rows : [];
  return [...rows, dept];
}
