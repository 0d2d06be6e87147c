import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { Panel } from '../ui/panel.tsx';
import { homeTexts } from './texts.ts';

/** What a member finds here: himself, and where he belongs. */
export function Mine() {
  const t = useTexts(homeTexts);
  const { user, tenant } = useMe();
  const ids = [user.deptId, ...user.deptIds].filter((id) => id !== null);
  const { data } = useQuery({
    queryKey: ['dept', 'names', ids],
    queryFn: ({ signal }) => api.readDepartments(ids, signal),
    enabled: ids.length > 0,
  });
  const departments = data?.data.rows.map(({ deptId, deptName }) => (
    <Link key={deptId} to={`/departments/${deptId}`} className="home-department">
      {deptName}
    </Link>
  ));
  const facts = [
    { name: t.name, value: user.nickName || '—' },
    { name: t.userName, value: user.userName },
    { name: t.department, value: ids.length > 0 ? departments : t.none },
    { name: t.tenant, value: `${tenant.tenantName ?? ''} ${tenant.tenantId}`.trim() },
  ];
  return (
    <Panel title={t.mine} extra={<Link to="/me">{t.account}</Link>}>
      <dl className="home-facts">
        {facts.map(({ name, value }) => (
          <div key={name}>
            <dt className="quiet">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Link to="/chart">{t.seeChart}</Link>
    </Panel>
  );
}
