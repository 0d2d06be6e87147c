import { useQuery } from '@tanstack/react-query';
import { Card, Descriptions } from 'antd';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
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
  return (
    <Card title={<h2>{t.mine}</h2>} extra={<Link to="/me">{t.account}</Link>}>
      <Descriptions
        column={{ xs: 1, sm: 2 }}
        items={[
          { key: 'name', label: t.name, children: user.nickName || '—' },
          { key: 'user', label: t.userName, children: user.userName },
          { key: 'department', label: t.department, children: ids.length > 0 ? departments : t.none },
          { key: 'tenant', label: t.tenant, children: `${tenant.tenantName ?? ''} ${tenant.tenantId}`.trim() },
        ]}
      />
      <Link to="/chart">{t.seeChart}</Link>
    </Card>
  );
}
