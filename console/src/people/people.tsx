import { PlusOutlined } from '@ant-design/icons';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useState } from 'react';
import { api, type User } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import { Card } from '../ui/card.tsx';
import { ListActions } from '../ui/list-actions.tsx';
import { ListPagination, usePageSize } from '../ui/list-settings.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { useExistingPage } from '../ui/use-existing-page.ts';
import { useIsPhone } from '../ui/use-is-phone.ts';
import { BulkActionDialog } from '../ui/user/bulk-action-dialog.tsx';
import { SelectionToolbar } from '../ui/user/selection-toolbar.tsx';
import { userTexts } from '../ui/user/texts.ts';
import type { BulkAction } from '../ui/user/use-bulk-action.ts';
import { useSelection } from '../ui/user/use-selection.ts';
import { UserActions } from '../ui/user/user-actions.tsx';
import { UserDialog } from '../ui/user/user-dialog.tsx';
import { UserTable } from '../ui/user/user-table.tsx';
import { OtherTenantNotice } from './other-tenant-notice.tsx';
import { type PeopleParams, toFilter, usePeopleParams } from './params.ts';
import { peopleTexts } from './texts.ts';
import { UserFilters } from './user-filters.tsx';
import './people.css';

export default function People() {
  const t = useTexts(peopleTexts);
  return (
    <AdministratorsOnly title={t.title}>
      <PeopleContent />
    </AdministratorsOnly>
  );
}

function PeopleContent() {
  const t = useTexts(peopleTexts);
  const [params, setParams] = usePeopleParams();
  const [action, setAction] = useState<BulkAction | null>(null);
  const { selected, select, clearSelection } = useSelection(params.tenantId);
  const openForm = (person: PeopleParams['person']) => setParams({ person });
  return (
    <>
      <PageTitle title={t.title}>
        <ListActions
          kind="user"
          tenantId={params.tenantId}
          exportFile={(format) => api.exportUsers({ ...toFilter(params), format })}
          importPath="/import/people"
        >
          <Button type="primary" icon={<PlusOutlined />} onClick={() => openForm('new')}>
            {t.create}
          </Button>
        </ListActions>
      </PageTitle>
      {params.tenantId && <OtherTenantNotice tenantId={params.tenantId} />}
      <Card className="people-card" aria-label={t.title}>
        <UserFilters params={params} setParams={setParams} />
        {selected.size > 0 && (
          <SelectionToolbar
            users={[...selected.values()]}
            canMove={!params.tenantId}
            onAction={setAction}
            onClear={clearSelection}
          />
        )}
        <UserList
          params={params}
          setParams={setParams}
          selected={selected}
          onSelect={select}
          onEdit={({ userId }) => openForm(userId)}
          onAction={setAction}
        />
      </Card>
      <UserDialog
        person={params.person}
        tenantId={params.tenantId}
        onClose={() => setParams({ person: null }, { replace: true })}
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
        }}
      />
    </>
  );
}

interface ListProps {
  params: PeopleParams;
  setParams: ReturnType<typeof usePeopleParams>[1];
  selected: ReadonlyMap<number, User>;
  onSelect: (users: User[], isSelected: boolean) => void;
  onEdit: (user: User) => void;
  onAction: (action: BulkAction) => void;
}

function UserList({ params, setParams, onEdit, onAction, ...tableProps }: ListProps) {
  const t = useTexts(peopleTexts);
  const u = useTexts(userTexts);
  const isPhone = useIsPhone();
  const { q, deptId, status, sort, page, tenantId } = params;
  const pageSize = usePageSize();
  const filter = { ...toFilter(params), ...(sort ? { sort } : {}), pageNum: page, pageSize };
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    queryKey: queryKeys.users.list(filter),
    queryFn: ({ signal }) => api.listUsers(filter, signal),
    placeholderData: keepPreviousData,
  });
  const total = data?.data.total ?? 0;
  useExistingPage({
    page,
    pageSize,
    total: isFetching ? undefined : data?.data.total,
    onChange: (page) => setParams({ page }, { replace: true }),
  });
  if (error) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const isFiltered = q !== '' || deptId !== null || status !== null;
  if (total === 0)
    return (
      <Empty text={isFiltered ? t.noneFound : t.none}>
        {isFiltered && (
          <Button onClick={() => setParams({ q: '', deptId: null, status: null, page: 1 })}>{t.clearFilters}</Button>
        )}
      </Empty>
    );
  return (
    <>
      <UserTable
        rows={data.data.rows}
        loading={isPlaceholderData}
        ownTenant={!tenantId}
        sort={sort}
        onSort={(sort) => setParams({ sort, page: 1 })}
        renderActions={(user) => <UserActions user={user} onEdit={onEdit} onAction={onAction} canMove={!tenantId} />}
        {...tableProps}
      />
      <nav className="people-pagination" aria-label={u.paging}>
        <span className="secondary" role="status">
          {u.total(total)}
        </span>
        <ListPagination page={page} total={total} isPhone={isPhone} onChange={(page) => setParams({ page })} />
      </nav>
    </>
  );
}
