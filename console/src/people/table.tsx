import { Checkbox, Table } from 'antd';
import type { User } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { useDepartmentNames } from '../ui/department-select.tsx';
import { Mark } from '../ui/mark.tsx';
import { PersonActions } from './menu.tsx';
import { nameOf } from './person.ts';
import type { Task } from './task.ts';
import { peopleTexts } from './texts.ts';

interface Props {
  rows: User[];
  loading: boolean;
  phone: boolean;
  /** Their departments have names here; those of another tenant have not. */
  own: boolean;
  chosen: ReadonlyMap<number, User>;
  choose: (people: User[], chosen: boolean) => void;
  edit: (user: User) => void;
  act: (task: Task) => void;
}

/** On a phone the same as a list. */
export function PeopleTable({ rows, loading, phone, own, chosen, choose, edit, act }: Props) {
  const t = useTexts(peopleTexts);
  const actions = (user: User) => <PersonActions user={user} edit={edit} act={act} canMove={own} />;
  const names = useDepartmentNames(own ? rows.flatMap(({ deptId, deptIds }) => [deptId ?? 0, ...deptIds]) : []);
  const departments = ({ deptId, deptIds }: User) =>
    [deptId, ...deptIds].flatMap((id) => (id === null ? [] : [names.get(id) ?? `#${id}`])).join('、');

  if (phone)
    return (
      <ul className="people-list" aria-busy={loading}>
        {rows.map((user) => (
          <li key={user.userId}>
            <Checkbox
              aria-label={t.choose(nameOf(user))}
              checked={chosen.has(user.userId)}
              onChange={(event) => choose([user], event.target.checked)}
            />
            <div className="people-main">
              <Name user={user} />
              <div className="quiet">{[departments(user), user.phone].filter(Boolean).join(' · ')}</div>
            </div>
            <Status user={user} onlyDisabled />
            {actions(user)}
          </li>
        ))}
      </ul>
    );
  return (
    <Table<User>
      className="people-table"
      size="middle"
      rowKey="userId"
      dataSource={rows}
      loading={loading}
      pagination={false}
      rowSelection={{
        selectedRowKeys: [...chosen.keys()],
        preserveSelectedRowKeys: true,
        onSelect: (user, on) => choose([user], on),
        onSelectAll: (on) => choose(rows, on),
        onSelectMultiple: (on, _, changed) => choose(changed, on),
        getCheckboxProps: (user) => ({ 'aria-label': t.choose(nameOf(user)) }),
        getTitleCheckboxProps: () => ({ 'aria-label': t.chooseAll }),
      }}
      columns={[
        { key: 'name', title: t.name, render: (_, user) => <Name user={user} /> },
        {
          key: 'department',
          title: t.department,
          render: (_, user) => departments(user) || <span className="quiet">{t.noDepartment}</span>,
        },
        { key: 'phone', title: t.phone, dataIndex: 'phone', render: (phone) => phone || '—' },
        { key: 'email', title: t.email, dataIndex: 'email', render: (email) => email || '—' },
        {
          key: 'role',
          title: t.role,
          width: 110,
          render: (_, { roles }) => (roles.includes('admin') ? t.admin : t.member),
        },
        { key: 'status', title: t.status, width: 90, render: (_, user) => <Status user={user} /> },
        { key: 'actions', title: t.actions, width: 120, render: (_, user) => actions(user) },
      ]}
    />
  );
}

function Name({ user }: { user: User }) {
  const t = useTexts(peopleTexts);
  const { user: me } = useMe();
  return (
    <div className="people-name">
      <strong>{nameOf(user)}</strong>
      {user.userId === me.userId && user.tenantId === me.tenantId && <Mark kind="good">{t.self}</Mark>}
      {user.nickName && <div className="quiet">{user.userName}</div>}
    </div>
  );
}

function Status({ user: { status }, onlyDisabled = false }: { user: User; onlyDisabled?: boolean }) {
  const t = useTexts(peopleTexts);
  if (status === '0') return onlyDisabled ? null : <Mark kind="good">{t.normal}</Mark>;
  return <Mark>{t.disabled}</Mark>;
}
