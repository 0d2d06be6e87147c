import { Checkbox, Table } from 'antd';
import { Fragment, type ReactNode } from 'react';
import type { User } from '../../api.ts';
import { useListFormat, useTexts } from '../../language.ts';
import { createMediaQueryStore, useStore } from '../../store.ts';
import { DepartmentLink, useDepartmentPaths } from '../department-path.tsx';
import { useDensity } from '../list-settings.tsx';
import { PhoneLink } from '../phone-link.tsx';
import { StatusTag } from '../status-tag.tsx';
import { useIsPhone } from '../use-is-phone.ts';
import { userTexts } from './texts.ts';
import { getDisplayName, isMemberOf } from './update-user.ts';
import { UserName, UserStatus } from './user-name.tsx';
import { parseUserSort, type SortColumn, type UserSort } from './user-sort.ts';
import './user.css';

interface Props {
  rows: User[];
  loading: boolean;
  /** False for the users of another tenant: its departments have no screen to link to, so they are not shown. */
  ownTenant: boolean;
  /**
   * The department whose members are listed. The department column then shows their other departments, and the table has
   * fewer columns.
   */
  deptId?: number;
  /** The user who leads that department. */
  leaderId?: number | null;
  sort?: UserSort | null;
  /** Sorts by a column, or by none. Without it, the table cannot be sorted. */
  onSort?: (sort: UserSort | null) => void;
  selected: ReadonlyMap<number, User>;
  onSelect: (users: User[], isSelected: boolean) => void;
  renderActions: (user: User) => ReactNode;
}

/** How much of a path the list of members shows: the other departments of a member often have the same name. */
const PATH_LEVELS = 2;

/** Whether there is room for the columns that users need least. */
const wideScreen = createMediaQueryStore('(min-width: 1400px)');

/** A table of users, or a list on phones. */
export function UserTable({
  rows,
  loading,
  ownTenant,
  deptId,
  leaderId,
  sort,
  onSort,
  selected,
  onSelect,
  renderActions,
}: Props) {
  const t = useTexts(userTexts);
  const isPhone = useIsPhone();
  const isWide = useStore(wideScreen);
  const density = useDensity();
  const inDepartment = deptId !== undefined;
  const getDepartments = (user: User) =>
    ownTenant ? [user.deptId, ...user.deptIds].filter((id): id is number => id !== null && id !== deptId) : [];
  const paths = useDepartmentPaths(rows.flatMap(getDepartments));
  const separator = useListFormat()(['', '']);
  const getPath = (id: number) =>
    paths
      .get(id)
      ?.map(({ name }) => name)
      .join(' / ') ?? `#${id}`;
  const renderDepartments = (user: User) => (
    <span className="user-departments">
      {getDepartments(user).map((id, index) => {
        const path = paths.get(id);
        return (
          <Fragment key={id}>
            {index > 0 && <span>{separator}</span>}
            {path ? (
              <DepartmentLink path={path} levels={inDepartment ? PATH_LEVELS : 1} below={deptId} />
            ) : (
              <span>{`#${id}`}</span>
            )}
          </Fragment>
        );
      })}
    </span>
  );
  if (isPhone)
    return (
      <ul className="user-list" aria-busy={loading}>
        {rows.map((user) => (
          <li key={user.userId}>
            <Checkbox
              aria-label={t.select(getDisplayName(user))}
              checked={selected.has(user.userId)}
              onChange={(event) => onSelect([user], event.target.checked)}
            />
            <div className="user-list-main">
              <UserName user={user} isLeader={user.userId === leaderId} />
              {user.position && <div className="secondary">{user.position}</div>}
              {getDepartments(user).length > 0 && <div className="secondary">{renderDepartments(user)}</div>}
              {user.phone && <PhoneLink phone={user.phone} />}
            </div>
            <UserStatus user={user} onlyDisabled />
            {renderActions(user)}
          </li>
        ))}
      </ul>
    );
  // Users of a department below have their main department in this column: the heading “Other departments” would be wrong.
  const areMembers = inDepartment && rows.every((user) => isMemberOf(user, deptId));
  const isAdministrator = ({ roles }: User) => roles.includes('admin');
  const sortable = (column: SortColumn) =>
    onSort
      ? {
          sorter: true,
          sortOrder: sort === column ? ('ascend' as const) : sort === `-${column}` ? ('descend' as const) : null,
        }
      : {};
  return (
    <Table<User>
      className={`user-table sticky-table${inDepartment ? ' is-narrow' : ''}`}
      size={density}
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
      onChange={(_pages, _filters, sorter) => {
        if (Array.isArray(sorter)) return;
        const { order, columnKey } = sorter;
        onSort?.(order ? parseUserSort(`${order === 'descend' ? '-' : ''}${columnKey}`) : null);
      }}
      // Columns without a width share what is left. The style sheet lets narrow tables scroll and keeps header and actions in view:
      // with antd's `scroll` the table would contain a second, hidden checkbox.
      tableLayout="fixed"
      columns={[
        {
          key: 'nickName',
          title: t.name,
          width: inDepartment ? 160 : 150,
          ...sortable('nickName'),
          render: (_, user) => (
            <UserName user={user} hidesUserName={!inDepartment} isLeader={user.userId === leaderId} />
          ),
        },
        ...(inDepartment
          ? []
          : [{ key: 'userName', title: t.userName, dataIndex: 'userName', ellipsis: true, ...sortable('userName') }]),
        {
          key: 'position',
          title: t.position,
          dataIndex: 'position',
          ellipsis: true,
          render: (position) => position || '—',
        },
        ...(ownTenant
          ? [
              {
                key: 'department',
                title: areMembers ? t.otherDepartments : t.departments,
                ellipsis: true,
                // The cell is truncated, so its tooltip shows all departments.
                onCell: (user: User) => ({ title: getDepartments(user).map(getPath).join(separator) }),
                render: (_: unknown, user: User) =>
                  getDepartments(user).length > 0
                    ? renderDepartments(user)
                    : inDepartment || <span className="secondary">{t.noDepartment}</span>,
              },
            ]
          : []),
        ...(inDepartment && !isWide
          ? []
          : [
              {
                key: 'phone',
                title: t.phone,
                dataIndex: 'phone',
                width: 132,
                ellipsis: true,
                onCell: ({ phone }: User) => ({ title: phone ?? '' }),
                render: (phone: string | null) => (phone ? <PhoneLink phone={phone} /> : '—'),
              },
            ]),
        ...(inDepartment || !isWide
          ? []
          : [
              {
                key: 'email',
                title: t.email,
                dataIndex: 'email',
                ellipsis: true,
                render: (email: string | null) => email || '—',
              },
            ]),
        {
          key: 'status',
          title: t.status,
          width: 130,
          render: (_, user) => (
            <span className="user-table-status">
              <UserStatus user={user} />
              {isAdministrator(user) && <StatusTag>{t.admin}</StatusTag>}
            </span>
          ),
        },
        ...(inDepartment || !isWide
          ? []
          : [
              {
                key: 'createTime',
                title: t.createTime,
                dataIndex: 'createTime',
                width: 124,
                className: 'user-table-nowrap',
                // The newest are looked for most often.
                sortDirections: ['descend' as const, 'ascend' as const],
                ...sortable('createTime'),
                render: (time: string) => <span title={time}>{time.slice(0, 10)}</span>,
              },
            ]),
        {
          key: 'actions',
          title: t.actions,
          width: 104,
          align: 'end',
          className: 'user-table-actions',
          render: (_, user) => renderActions(user),
        },
      ]}
    />
  );
}
