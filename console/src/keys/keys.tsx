import { PlusOutlined } from '@ant-design/icons';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Select } from 'antd';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import { Card } from '../ui/card.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { KeyDialog } from './key-dialog.tsx';
import { KeyTable } from './key-table.tsx';
import { type KeysParams, useKeysParams } from './params.ts';
import { keysTexts } from './texts.ts';
import './keys.css';

/** A tenant has at most 100 keys, so one page has all of them. */
const PAGE_SIZE = 100;

export default function Keys() {
  const t = useTexts(keysTexts);
  return (
    <AdministratorsOnly title={t.title}>
      <KeysContent />
    </AdministratorsOnly>
  );
}

function KeysContent() {
  const t = useTexts(keysTexts);
  const [params, setParams] = useKeysParams();
  return (
    <>
      <PageTitle title={t.title}>
        <Button type="primary" icon={<PlusOutlined />} onClick={() => setParams({ key: 'new' })}>
          {t.create}
        </Button>
      </PageTitle>
      <p className="secondary keys-intro">{t.intro}</p>
      <Card className="keys-card" aria-label={t.title}>
        <KeyList params={params} setParams={setParams} />
      </Card>
      <KeyDialog apiKey={params.key} onClose={() => setParams({ key: null }, { replace: true })} />
    </>
  );
}

interface ListProps {
  params: KeysParams;
  setParams: ReturnType<typeof useKeysParams>[1];
}

function KeyList({ params, setParams }: ListProps) {
  const t = useTexts(keysTexts);
  const { q, status } = params;
  const filter = { pageSize: PAGE_SIZE, ...(q ? { keyName: q } : {}), ...(status ? { status } : {}) };
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: queryKeys.keys.list(filter),
    queryFn: ({ signal }) => api.listKeys(filter, signal),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  if (error && !data) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const { rows } = data.data;
  const isFiltered = q !== '' || status !== null;
  if (rows.length === 0 && !isFiltered && !isPlaceholderData)
    return (
      <Empty text={t.none}>
        <Button onClick={() => setParams({ key: 'new' })}>{t.create}</Button>
      </Empty>
    );
  return (
    <>
      <KeyFilters params={params} setParams={setParams} />
      {rows.length === 0 ? (
        <Empty text={t.noneFound}>
          <Button onClick={() => setParams({ q: '', status: null })}>{t.clearFilters}</Button>
        </Empty>
      ) : (
        <KeyTable rows={rows} loading={isPlaceholderData} onEdit={({ keyId }) => setParams({ key: keyId })} />
      )}
      <p className="secondary keys-total" role="status">
        {t.total(rows.length)}
      </p>
    </>
  );
}

function KeyFilters({ params, setParams }: ListProps) {
  const t = useTexts(keysTexts);
  return (
    <FilterBar className="keys-filters">
      <SearchField
        label={t.search}
        value={params.q}
        onSearch={(q) => setParams({ q }, { replace: true })}
        maxLength={100}
        className="keys-search"
      />
      <Select
        value={params.status}
        onChange={(status) => setParams({ status: status ?? null })}
        placeholder={t.anyStatus}
        aria-label={t.status}
        allowClear
        className="keys-status-filter"
        options={[
          { value: '0', label: t.normal },
          { value: '1', label: t.disabled },
        ]}
      />
    </FilterBar>
  );
}
