import { Checkbox, Table } from 'antd';
import type { User } from '../api.ts';
import { useListFormat, useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { useDepartmentNames } from '../ui/department-select.tsx';
import { PhoneLink } from '../ui/phone-link.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { userTexts } from '../ui/user/texts.ts';
import { getDisplayName } from '../ui/user/update-user.ts';
import type { BulkAction } from '../ui/user/use-bulk-action.ts';
import { UserActions } from '../ui/user/user-actions.tsx';

interface Props {
  rows: User[];
  loading: boolean;
  isPhone: boolean;
  /** The console does not read the departments of another tenant. */
  ownTenant: boolean;
  selected: ReadonlyMap<number, User>;
  onSelect: (users: User[], isSelected: boolean) => void;
  onEdit: (user: User) => void;
  onAction: (action: BulkAction) => void;
}

/** A table, or a list on phones. */
export function UserTable({ rows, loading, isPhone, ownTenant, selected, onSelect, onEdit, onAction }: Props) {
  const t = useTexts(userTexts);
  const formatList = useListFormat();
  const renderActions = (user: User) => (
    <UserActions user={user} onEdit={onEdit} onAction={onAction} canMove={ownTenant} />
  );
  const names = useDepartmentNames(ownTenant ? rows.flatMap(({ deptId, deptIds }) => [deptId ?? 0, ...deptIds]) : []);
  const getDepartments = ({ deptId, deptIds }: User) =>
    formatList([deptId, ...deptIds].flatMap((id) => (id === null ? [] : [names.get(id) ?? `#${id}`])));

  if (isPhone)
    return (
      <ul className="people-list" aria-busy={loading}>
        {rows.map((user) => (
          <li key={user.userId}>
            <Checkbox
              aria-label={t.select(getDisplayName(user))}
              checked={selected.has(user.userId)}
              onChange={(event) => onSelect([user], event.target.checked)}
            />
            <div className="people-item-main">
              <UserName user={user} />
              <div className="secondary">{[user.position, getDepartments(user)].filter(Boolean).join(' · ')}</div>
              {user.phone && <PhoneLink phone={user.phone} />}
            </div>
            <UserStatus user={user} onlyDisabled />
            {renderActions(user)}
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
        selectedRowKeys: [...selected.keys()],
        preserveSelectedRowKeys: true,
        onSelect: (user, isSelected) => onSelect([user], isSelected),
        onSelectAll: (isSelected) => onSelect(rows, isSelected),
        onSelectMultiple: (isSelected, _, changed) => onSelect(changed, isSelected),
        getCheckboxProps: (user) => ({ 'aria-label': t.select(getDisplayName(user)) }),
        getTitleCheckboxProps: () => ({ 'aria-label': t.selectAll }),
      }}
      columns={[
        { key: 'name', title: t.name, render: (_, user) => <UserName user={user} /> },
        { key: 'position', title: t.position, dataIndex: 'position', render: (position) => position || '—' },
        {
          key: 'department',
          title: t.departments,
          render: (_, user) => getDepartments(user) || <span className="secondary">{t.noDepartment}</span>,
        },
        {
          key: 'phone',
          title: t.phone,
          dataIndex: 'phone',
          render: (phone) => (phone ? <PhoneLink phone={phone} /> : '—'),
        },
        { key: 'email', title: t.email, dataIndex: 'email', render: (email) => email || '—' },
        {
          key: 'role',
          title: t.role,
          width: 110,
          render: (_, { roles }) => (roles.includes('admin') ? t.admin : t.member),
        },
        { key: 'status', title: t.status, width: 90, render: (_, user) => <UserStatus user={user} /> },
        { key: 'actions', title: t.actions, width: 120, render: (_, user) => renderActions(user) },
      ]}
    />
  );
}

function UserName({ user }: { user: User }) {
  const t = useTexts(userTexts);
  const { user: me } = useMe();
  return (
    <div className="people-name">
      <strong>{getDisplayName(user)}</strong>
      {user.userId === me.userId && user.tenantId === me.tenantId && <StatusTag tone="success">{t.self}</StatusTag>}
      {user.nickName && <div className="secondary">{user.userName}</div>}
    </div>
  );
}

function UserStatus({ user: { status }, onlyDisabled = false }: { user: User; onlyDisabled?: boolean }) {
  const t = useTexts(userTexts);
  if (status === '0') return onlyDisabled ? null : <StatusTag tone="success">{t.normal}</StatusTag>;
  return <StatusTag>{t.disabled}</StatusTag>;
}
