import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { chartTexts } from './texts.ts';

/** Where the root of the picture is, and the way up from it. Says nothing while it is not known: the picture does. */
export function Path({ id }: { id: string }) {
  const t = useTexts(chartTexts);
  const { tenant } = useMe();
  const { data = [] } = useQuery({ queryKey: ['dept', id, 'path'], queryFn: ({ signal }) => readPath(id, signal) });
  return (
    <nav aria-label={t.path}>
      <ol className="chart-path">
        <li>
          <Link to="/chart">{tenant.tenantName || tenant.tenantId}</Link>
        </li>
        {data.map(({ deptId, deptName }) => (
          <li key={deptId} aria-current={String(deptId) === id ? 'page' : undefined}>
            {String(deptId) === id ? deptName : <Link to={`/chart/${deptId}`}>{deptName || t.nameless}</Link>}
          </li>
        ))}
      </ol>
    </nav>
  );
}

async function readPath(id: string, signal: AbortSignal) {
  const { data: own } = await api.readDepartment(id, signal);
  const above = own.ancestors.split(',').filter((ancestor) => ancestor !== '0');
  const rows = above.length > 0 ? (await api.readDepartments(above, signal)).data.rows : [];
  return [...rows, own];
}
