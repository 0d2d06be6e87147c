import { PlusOutlined, UserSwitchOutlined } from '@ant-design/icons';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Switch } from 'antd';
import { useState } from 'react';
import { api, type Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { ExportButton } from '../ui/export-button.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { DensityButton, ListPagination, usePageSize } from '../ui/list-settings.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { useExistingPage } from '../ui/use-existing-page.ts';
import { useIsPhone } from '../ui/use-is-phone.ts';
import { BulkActionDialog } from '../ui/user/bulk-action-dialog.tsx';
import { SelectionToolbar } from '../ui/user/selection-toolbar.tsx';
import { SortSelect } from '../ui/user/sort-select.tsx';
import { StatusSelect } from '../ui/user/status-select.tsx';
import { userTexts } from '../ui/user/texts.ts';
import type { BulkAction } from '../ui/user/use-bulk-action.ts';
import { useSelection } from '../ui/user/use-selection.ts';
import { UserActions } from '../ui/user/user-actions.tsx';
import { UserDialog } from '../ui/user/user-dialog.tsx';
import { UserTable } from '../ui/user/user-table.tsx';
import { useMemberParams } from './params.ts';
import { departmentsTexts } from './texts.ts';

interface Props {
  dept: Dept;
  name: string;
  /** Called after members were added, changed or removed. */
  onChanged: () => void;
}

/** The members of a department, by default with those of all departments below it. */
export function MemberList({ dept, name, onChanged }: Props) {
  const t = useTexts(departmentsTexts);
  const u = useTexts(userTexts);
  const isPhone = useIsPhone();
  const { deptId } = dept;
  const department = { deptId, name };
  const [params, setParams] = useMemberParams();
  const { q, direct, status, sort, page } = params;
  const [person, setPerson] = useState<'new' | number | null>(null);
  const [action, setAction] = useState<BulkAction | null>(null);
  const { selected, select, clearSelection } = useSelection(deptId);
  const filter = { deptId: String(deptId), below: !direct, ...(q ? { q } : {}), ...(status ? { status } : {}) };
  const pageSize = usePageSize();
  const query = { ...filter, ...(sort ? { sort } : {}), pageNum: page, pageSize };
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    queryKey: queryKeys.departments.users(deptId, query),
    queryFn: ({ signal }) => api.listUsers(query, signal),
    placeholderData: keepPreviousData,
  });
  const { rows = [], total = 0 } = data?.data ?? {};
  useExistingPage({
    page,
    pageSize,
    total: isFetching ? undefined : data?.data.total,
    onChange: (page) => setParams({ page }, { replace: true }),
  });
  return (
    <section aria-label={t.members}>
      <div className="departments-members-header">
        <MemberCount deptId={deptId} />
        <div className="page-actions">
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setPerson('new')}>
            {t.addMember}
          </Button>
          <Button
            icon={<UserSwitchOutlined />}
            onClick={({ currentTarget }) => setAction({ kind: 'join', users: [], department, opener: currentTarget })}
          >
            {t.moveIn}
          </Button>
          <ExportButton exportFile={(format) => api.exportUsers({ ...filter, format })} />
        </div>
      </div>
      <FilterBar className="departments-member-filters">
        <SearchField
          label={t.searchMembers}
          value={q}
          onSearch={(q) => setParams({ q }, { replace: true })}
          maxLength={50}
          className="departments-member-search"
        />
        <StatusSelect
          value={status}
          onChange={(status) => setParams({ status })}
          className="departments-status-filter"
        />
        <span>
          <Switch
            id="departments-below"
            size="small"
            checked={!direct}
            onChange={(below) => setParams({ direct: !below }, { replace: true })}
          />{' '}
          <label htmlFor="departments-below">{t.includeDescendants}</label>
        </span>
        {isPhone && <SortSelect value={sort} onChange={(sort) => setParams({ sort })} />}
        <DensityButton />
      </FilterBar>
      {selected.size > 0 && (
        <SelectionToolbar
          users={[...selected.values()]}
          canMove
          department={department}
          onAction={setAction}
          onClear={clearSelection}
        />
      )}
      {error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : total === 0 ? (
        <Empty text={q || status ? t.noMembersFound : direct ? t.noUsers : t.noUsersInSubtree} />
      ) : (
        <>
          <UserTable
            rows={rows}
            loading={isPlaceholderData}
            ownTenant
            deptId={deptId}
            leaderId={dept.leaderId}
            sort={sort}
            onSort={(sort) => setParams({ sort })}
            selected={selected}
            onSelect={select}
            renderActions={(user) => (
              <UserActions
                user={user}
                onEdit={({ userId }) => setPerson(userId)}
                onAction={setAction}
                canMove
                department={department}
              />
            )}
          />
          <ListPagination
            className="departments-pagination"
            page={page}
            total={total}
            isPhone={isPhone}
            showTotal={u.total}
            onChange={(page) => setParams({ page })}
          />
        </>
      )}
      <UserDialog
        person={person}
        tenantId={undefined}
        deptId={deptId}
        onSaved={onChanged}
        onClose={() => setPerson(null)}
      />
      <BulkActionDialog
        action={action}
        onClose={(done) => {
          setAction(null);
          // Users for whom it failed stay selected, so that the action can be repeated.
          select(
            done.map(({ user }) => user),
            false,
          );
          if (done.length > 0) onChanged();
        }}
      />
    </section>
  );
}

/** The members of the whole branch, then those of the department itself. */
function MemberCount({ deptId }: { deptId: number }) {
  const t = useTexts(departmentsTexts);
  const { data } = useQuery({
    queryKey: queryKeys.departments.users(deptId, { countOnly: true }),
    queryFn: async ({ signal }) => {
      const read = (below: boolean) => api.listDepartmentUsers(deptId, { below, countOnly: true }, signal);
      const [branch, direct] = await Promise.all([read(true), read(false)]);
      return { branch: branch.data.total ?? 0, direct: direct.data.total ?? 0 };
    },
  });
  return <span role="status">{data ? t.memberTotal(data.branch, data.direct) : t.members}</span>;
}
