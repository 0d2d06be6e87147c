import { PlusOutlined } from '@ant-design/icons';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Input, Segmented, Select } from 'antd';
import { useNavigate } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { ListActions } from '../ui/list-actions.tsx';
import { DensityButton, ListPagination, usePageSize } from '../ui/list-settings.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { useExistingPage } from '../ui/use-existing-page.ts';
import { useSearchText } from '../ui/use-search-text.ts';
import { fieldTexts } from './field-texts.ts';
import { newTenantPath } from './new-tenant-path.ts';
import { type TenantListParams, toExportFilter, toFilter, useTenantListParams } from './params.ts';
import { TenantTable } from './tenant-table.tsx';
import { tenantsTexts } from './texts.ts';
import { Timeline } from './timeline.tsx';

export function TenantList() {
  const t = useTexts(tenantsTexts);
  const [params, setParams] = useTenantListParams();
  const navigate = useNavigate();
  const pageSize = usePageSize();
  const filter = toFilter(params, pageSize);
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    queryKey: queryKeys.tenants.list(filter),
    queryFn: ({ signal }) => api.listTenants(filter, signal),
    placeholderData: keepPreviousData,
  });
  const { rows = [], total = 0 } = data?.data ?? {};
  useExistingPage({
    page: params.page,
    pageSize,
    total: isFetching ? undefined : data?.data.total,
    onChange: (page) => setParams({ page }, { replace: true }),
  });
  const create = (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => navigate(newTenantPath(params.parent))}>
      {t.create}
    </Button>
  );
  const isFiltered = Boolean(params.q || params.status || params.ends || params.parent);
  const hasNoChildren = total === 1 && rows.length === 1 && !isFiltered;
  return (
    <>
      <PageTitle title={t.title}>
        <ListActions kind="tenant" exportFile={(format) => api.exportTenants({ ...toExportFilter(params), format })}>
          {create}
        </ListActions>
      </PageTitle>
      <Card>
        <TenantFilters params={params} setParams={setParams} />
        {error ? (
          <LoadError error={error} onRetry={refetch} />
        ) : !data ? (
          <Loading />
        ) : total === 0 ? (
          <Empty text={t.noneFound}>
            {isFiltered && (
              <Button onClick={() => setParams({ q: '', status: '', ends: 0, parent: '' })}>{t.clearFilters}</Button>
            )}
          </Empty>
        ) : (
          <>
            {params.view === 'timeline' ? (
              <Timeline rows={rows} />
            ) : (
              <TenantTable
                rows={rows}
                loading={isPlaceholderData}
                sortedByEnd={params.sort === ''}
                onSortByEnd={(isSorted) => setParams({ sort: isSorted ? '' : 'id' })}
              />
            )}
            {hasNoChildren && <Empty text={t.noChildren}>{create}</Empty>}
            <ListPagination
              className="tenants-pagination"
              page={params.page}
              total={total}
              showTotal={t.total}
              onChange={(page) => setParams({ page })}
            />
          </>
        )}
      </Card>
    </>
  );
}

interface FilterProps {
  params: TenantListParams;
  setParams: (changes: Partial<TenantListParams>, options?: { replace?: boolean }) => void;
}

function TenantFilters({ params, setParams }: FilterProps) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  return (
    <FilterBar>
      <SearchField params={params} setParams={setParams} />
      <Select
        aria-label={t.statusFilter}
        value={params.status}
        onChange={(status) => setParams({ status })}
        options={[
          { value: '', label: t.anyStatus },
          { value: '0', label: f.normal },
          { value: '1', label: f.disabled },
        ]}
      />
      <Select
        aria-label={t.endFilter}
        value={params.ends}
        onChange={(ends) => setParams({ ends })}
        popupMatchSelectWidth={false}
        options={[
          { value: 0, label: t.anyEnd },
          ...[30, 60, 90].map((days) => ({ value: days, label: t.endsWithin(days) })),
        ]}
      />
      <Segmented<TenantListParams['view']>
        aria-label={t.view}
        name="tenants-view"
        value={params.view}
        onChange={(view) => setParams({ view })}
        options={[
          { value: 'list', label: t.list },
          { value: 'timeline', label: t.timeline },
        ]}
      />
      {params.view === 'list' && <DensityButton />}
      {params.parent && <ParentFilter params={params} setParams={setParams} />}
    </FilterBar>
  );
}

function SearchField({ params, setParams }: FilterProps) {
  const t = useTexts(tenantsTexts);
  const [text, setText] = useSearchText(params.q, (q) => setParams({ q }, { replace: true }));
  return (
    <Input.Search
      className="tenants-search"
      aria-label={t.search}
      placeholder={t.searchHint}
      allowClear
      maxLength={100}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

function ParentFilter({ params, setParams }: FilterProps) {
  const t = useTexts(tenantsTexts);
  const own = useMe().tenant;
  const { data } = useQuery({
    queryKey: queryKeys.tenants.list({ tenantId: params.parent }),
    queryFn: ({ signal }) => api.listTenants({ tenantId: params.parent }, signal),
  });
  const name = data?.data.rows[0]?.tenantName || (own.tenantId === params.parent && own.tenantName) || params.parent;
  return (
    <span className="tenants-parent-filter">
      {t.childrenOf(name)}
      <Button type="link" size="small" onClick={() => setParams({ parent: '' })}>
        {t.showAll}
      </Button>
    </span>
  );
}
