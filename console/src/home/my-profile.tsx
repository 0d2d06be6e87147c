import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { DescriptionList } from '../ui/description-list.tsx';
import { homeTexts } from './texts.ts';

/** Shown to members, who see neither the to-do list nor usage and recent changes. */
export function MyProfile() {
  const t = useTexts(homeTexts);
  const { user, tenant } = useMe();
  const ids = [user.deptId, ...user.deptIds].filter((id) => id !== null);
  const { data } = useQuery({
    queryKey: queryKeys.departments.batch(ids),
    queryFn: ({ signal }) => api.readDepartments(ids, signal),
    enabled: ids.length > 0,
  });
  const departments = data?.data.rows.map(({ deptId, deptName }) => (
    <Link key={deptId} to={`/departments/${deptId}`} className="home-department-link">
      {deptName || `#${deptId}`}
    </Link>
  ));
  return (
    <Card title={t.myProfile} extra={<Link to="/me">{t.account}</Link>}>
      <DescriptionList
        className="home-profile"
        items={[
          { label: t.name, value: user.nickName },
          { label: t.userName, value: user.userName },
          { label: t.department, value: ids.length > 0 ? departments : t.none },
          { label: t.tenant, value: `${tenant.tenantName ?? ''} ${tenant.tenantId}`.trim() },
        ]}
      />
      <Link to="/chart">{t.viewChart}</Link>
    </Card>
  );
}
