import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { Link } from 'react-router';
import { api, type User } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { type DepartmentPath, useDepartmentPaths } from '../ui/department-path.tsx';
import { DescriptionList } from '../ui/description-list.tsx';
import { permissionTexts } from '../ui/permission-texts.ts';
import { PhoneLink } from '../ui/phone-link.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { Avatar } from '../ui/user/avatar.tsx';
import { PersonLink } from '../ui/user/person-link.tsx';
import { userTexts } from '../ui/user/texts.ts';
import { getDisplayName } from '../ui/user/update-user.ts';
import { UserStatus } from '../ui/user/user-name.tsx';
import { personTexts } from './person-texts.ts';

/** The details of a user: contact data, departments, leaders and role. */
export function PersonDetails({ user, tenantId }: { user: User; tenantId: string | undefined }) {
  const t = useTexts(personTexts);
  const { admin, member } = useTexts(userTexts);
  const isAdministrator = user.roles.includes('admin');
  const facts = [
    { label: t.userName, value: user.userName },
    { label: t.position, value: user.position },
    { label: t.phone, value: user.phone && <PhoneLink phone={user.phone} /> },
    { label: t.email, value: user.email && <a href={`mailto:${user.email}`}>{user.email}</a> },
    { label: t.source, value: user.source },
    { label: t.externalId, value: user.externalId },
  ];
  return (
    <Card className="person-details" aria-label={getDisplayName(user)}>
      <div className="person-header">
        <Avatar name={getDisplayName(user)} large />
        <div>
          <strong>{getDisplayName(user)}</strong>
          <div className="person-tags">
            <UserStatus user={user} />
            <StatusTag>{isAdministrator ? admin : member}</StatusTag>
            {user.mustChangePassword && <StatusTag tone="warning">{t.mustChangePassword}</StatusTag>}
          </div>
        </div>
      </div>
      <DescriptionList items={facts.filter(({ value }) => value)} />
      <h3>{t.departments}</h3>
      {tenantId ? <p className="secondary">{t.otherTenantDepartments}</p> : <Departments user={user} />}
      {!tenantId && <Leaders id={user.userId} />}
      <h3>{t.role}</h3>
      <RolePermissions isAdministrator={isAdministrator} />
      <details className="person-more">
        <summary>{t.more}</summary>
        <DescriptionList
          items={[
            { label: t.id, value: user.userId },
            { label: t.created, value: t.byAt(user.createBy, user.createTime) },
            ...(user.updateTime === null
              ? []
              : [{ label: t.lastChange, value: t.byAt(user.updateBy, user.updateTime) }]),
          ]}
        />
      </details>
    </Card>
  );
}

function Departments({ user: { deptId, deptIds } }: { user: User }) {
  const t = useTexts(personTexts);
  const ids = [...(deptId === null ? [] : [deptId]), ...deptIds];
  const paths = useDepartmentPaths(ids);
  if (ids.length === 0) return <p className="secondary">{t.noDepartments}</p>;
  return (
    <ul className="person-departments">
      {ids.map((id) => (
        <li key={id}>
          <PathLinks path={paths.get(id) ?? [{ id, name: '…' }]} />
          {id === deptId && <StatusTag tone="success">{t.main}</StatusTag>}
        </li>
      ))}
    </ul>
  );
}

const PathLinks = ({ path }: { path: DepartmentPath }) => (
  <span>
    {path.map(({ id, name }, index) => (
      <Fragment key={id}>
        {index > 0 && <span className="secondary"> / </span>}
        <Link to={`/departments/${id}`}>{name}</Link>
      </Fragment>
    ))}
  </span>
);

/** The leaders of the main department and of those above it, the nearest first. Renders nothing without leaders. */
function Leaders({ id }: { id: number }) {
  const t = useTexts(personTexts);
  const { data } = useQuery({
    queryKey: queryKeys.users.leaders(id, undefined),
    queryFn: ({ signal }) => api.readLeaders(id, {}, signal),
  });
  if (!data || data.data.length === 0) return null;
  return (
    <>
      <h3>{t.leaders}</h3>
      <ul className="person-departments">
        {data.data.map((leader) => (
          <li key={leader.deptId}>
            <PersonLink id={leader.userId}>{leader.nickName || leader.userName}</PersonLink>
            <span className="secondary">{leader.deptName}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Users with the role of a member may only see the departments. */
const MEMBER_PERMISSIONS = ['dept:read'] as const;

function RolePermissions({ isAdministrator }: { isAdministrator: boolean }) {
  const t = useTexts(personTexts);
  const permissions = useTexts(permissionTexts);
  const names = isAdministrator ? Object.values(permissions) : MEMBER_PERMISSIONS.map((name) => permissions[name]);
  return (
    <div className="person-permissions">
      <span className="secondary">{isAdministrator ? t.adminHint : t.memberHint}</span>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <StatusTag>{name}</StatusTag>
          </li>
        ))}
      </ul>
    </div>
  );
}
