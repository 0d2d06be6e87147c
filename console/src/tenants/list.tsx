import { PlusOutlined } from '@ant-design/icons';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Card, Input, Pagination, Segmented, Select } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { filterOf, PAGE, type Shown, useShown } from './address.ts';
import { fieldTexts } from './field-texts.ts';
import { newBelow } from './new-below.ts';
import { TenantTable } from './table.tsx';
import { tenantsTexts } from './texts.ts';
import { Timeline } from './timeline.tsx';

export function TenantList() {
  const t = useTexts(tenantsTexts);
  const [shown, show] = useShown();
  const navigate = useNavigate();
  const filter = filterOf(shown);
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['tenant-list', filter],
    queryFn: ({ signal }) => api.listTenants(filter, signal),
    placeholderData: keepPreviousData,
  });
  const { rows = [], total = 0 } = data?.data ?? {};
  const create = (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => navigate(newBelow(shown.parent))}>
      {t.create}
    </Button>
  );
  const alone = total === 1 && rows.length === 1 && !shown.q && !shown.status && !shown.ends && !shown.parent;
  return (
    <>
      <PageTitle title={t.title}>{create}</PageTitle>
      <Card>
        <Filters shown={shown} show={show} />
        {error ? (
          <Failed error={error} retry={refetch} />
        ) : !data ? (
          <Loading />
        ) : rows.length === 0 ? (
          <Empty text={t.nothingFound} />
        ) : (
          <>
            {shown.view === 'timeline' ? (
              <Timeline rows={rows} />
            ) : (
              <TenantTable
                rows={rows}
                loading={isFetching && data.data.rows !== rows}
                byEnd={shown.sort === 'endTime'}
                sortByEnd={(yes) => show({ sort: yes ? 'endTime' : '' })}
              />
            )}
            {alone && <Empty text={t.none}>{create}</Empty>}
            <Pagination
              className="tenants-pages"
              current={shown.page}
              total={total}
              pageSize={PAGE}
              showSizeChanger={false}
              showTotal={t.total}
              onChange={(page) => show({ page })}
            />
          </>
        )}
      </Card>
    </>
  );
}

interface Filtering {
  shown: Shown;
  show: (change: Partial<Shown>, options?: { replace?: boolean }) => void;
}

function Filters({ shown, show }: Filtering) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  return (
    <div className="tenants-filters">
      <Search shown={shown} show={show} />
      <Select
        aria-label={t.statusFilter}
        value={shown.status}
        onChange={(status) => show({ status })}
        options={[
          { value: '', label: t.anyStatus },
          { value: '0', label: f.normal },
          { value: '1', label: f.disabled },
        ]}
      />
      <Select
        aria-label={t.endFilter}
        value={shown.ends}
        onChange={(ends) => show({ ends })}
        popupMatchSelectWidth={false}
        options={[
          { value: 0, label: t.anyEnd },
          ...[30, 60, 90].map((days) => ({ value: days, label: t.endsWithin(days) })),
        ]}
      />
      <Segmented<Shown['view']>
        aria-label={t.view}
        name="tenants-view"
        value={shown.view}
        onChange={(view) => show({ view })}
        options={[
          { value: 'list', label: t.list },
          { value: 'timeline', label: t.timeline },
        ]}
      />
      {shown.parent && <Below shown={shown} show={show} />}
    </div>
  );
}

/** Types on while the address follows a moment later. */
function Search({ shown, show }: Filtering) {
  const t = useTexts(tenantsTexts);
  const [typed, setTyped] = useState(shown.q);
  const sent = useRef(shown.q);
  // Back and forward change the address without typing.
  useEffect(() => {
    if (shown.q !== sent.current) setTyped(shown.q);
    sent.current = shown.q;
  }, [shown.q]);
  const latest = useRef(show);
  latest.current = show;
  useEffect(() => {
    const text = typed.trim();
    if (text === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = text;
      latest.current({ q: text }, { replace: true });
    }, 250);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <Input.Search
      className="tenants-search"
      aria-label={t.search}
      placeholder={t.searchHint}
      allowClear
      maxLength={100}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}

function Below({ shown, show }: Filtering) {
  const t = useTexts(tenantsTexts);
  const own = useMe().tenant;
  const { data } = useQuery({
    queryKey: ['tenant-list', { tenantId: shown.parent }],
    queryFn: ({ signal }) => api.listTenants({ tenantId: shown.parent }, signal),
  });
  const name = data?.data.rows[0]?.tenantName || (own.tenantId === shown.parent && own.tenantName) || shown.parent;
  return (
    <span className="tenants-below">
      {t.below(name)}
      <Button type="link" size="small" onClick={() => show({ parent: '' })}>
        {t.all}
      </Button>
    </span>
  );
}
