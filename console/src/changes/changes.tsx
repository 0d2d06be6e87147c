import { useInfiniteQuery } from '@tanstack/react-query';
import { Alert, Button } from 'antd';
import { Link } from 'react-router';
import { type AuditEntry, api } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { liveUpdates } from '../live.ts';
import { queryKeys } from '../query-keys.ts';
import { useStore } from '../store.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import { Card } from '../ui/card.tsx';
import { useResourceName } from '../ui/change-summary.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { ChangeDays } from './change-days.tsx';
import { ChangeFilters } from './change-filters.tsx';
import { type ChangesParams, toFilter, useChangesParams } from './params.ts';
import { changesTexts } from './texts.ts';
import './changes.css';

const PAGE_SIZE = 30;
const POLL_MS = 20_000;
/** Polling reads all loaded pages again, so a longer list is not polled. */
const MAX_POLLED_PAGES = 3;

export default function Changes() {
  const t = useTexts(changesTexts);
  return (
    <AdministratorsOnly title={t.title}>
      <ChangesContent />
    </AdministratorsOnly>
  );
}

function ChangesContent() {
  const t = useTexts(changesTexts);
  const [params, setParams] = useChangesParams();
  return (
    <>
      <PageTitle title={t.title}>
        <Link to="/deleted">{t.deleted}</Link>
        <Link to="/changes/tree">{t.pastTree}</Link>
        <Link to="/changes/diff">{t.compare}</Link>
      </PageTitle>
      <Card aria-label={t.list}>
        <ChangeFilters params={params} setParams={setParams} />
        <List params={params} setParams={setParams} />
      </Card>
    </>
  );
}

interface Props {
  params: ChangesParams;
  setParams: (changes: Partial<ChangesParams>) => void;
}

const NO_FILTERS: ChangesParams = {
  resource: null,
  resourceId: null,
  action: null,
  by: '',
  user: null,
  from: null,
  to: null,
  tenant: null,
};

function List({ params, setParams }: Props) {
  const t = useTexts(changesTexts);
  // The history of one record shows each of its changes; otherwise there is one row for each request.
  const grouped = !params.resourceId;
  const filter = toFilter(params);
  const live = useStore(liveUpdates) === 'on';
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: queryKeys.changes.list({ ...filter, grouped }),
    queryFn: ({ pageParam, signal }) =>
      api.listChanges({ ...filter, grouped, limit: PAGE_SIZE, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ data: { next } }) => next ?? undefined,
    staleTime: 0,
    // The stream has no logins, keys or webhooks, and nothing about departments, users and quotas of tenants below.
    refetchInterval: ({ state }) => live && (state.data?.pages.length ?? 0) <= MAX_POLLED_PAGES && POLL_MS,
  });
  if (error && !data) {
    return (
      <>
        <LoadError error={error} onRetry={refetch} />
        {isApiError(error, 'TOO_MANY_LEDGERS') && (
          <p className="changes-more">
            <Button onClick={() => setParams({ tenant: 'own' })}>{t.ownOnly}</Button>
          </p>
        )}
      </>
    );
  }
  if (!data) return <Loading />;
  const rows = data.pages.flatMap(({ data: { rows } }) => rows);
  const [first] = rows;
  const isFiltered = Object.keys(filter).length > 0;
  if (!first) {
    return (
      <Empty text={isFiltered ? t.noneFound : t.none}>
        {isFiltered && <Button onClick={() => setParams(NO_FILTERS)}>{t.clear}</Button>}
      </Empty>
    );
  }
  return (
    <>
      {params.resourceId && (
        <OneRecordNotice change={first} onShowAll={() => setParams({ resource: null, resourceId: null })} />
      )}
      <ChangeDays key={JSON.stringify(filter)} rows={rows} />
      {error && <LoadError error={error} />}
      {hasNextPage && (
        <p className="changes-more">
          <Button loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {t.older}
          </Button>
        </p>
      )}
    </>
  );
}

function OneRecordNotice({ change, onShowAll }: { change: AuditEntry; onShowAll: () => void }) {
  const t = useTexts(changesTexts);
  const name = useResourceName(change);
  return (
    <Alert
      type="info"
      className="margin-bottom"
      title={t.onlyChangesOf(name || `#${change.resourceId}`)}
      action={
        <Button size="small" onClick={onShowAll}>
          {t.showAll}
        </Button>
      }
    />
  );
}
