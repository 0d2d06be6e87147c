import { useInfiniteQuery } from '@tanstack/react-query';
import { Alert, Button } from 'antd';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { isRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { nameIn } from '../ui/change.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, Failed, ForAdministrators, Loading } from '../ui/states.tsx';
import { filterOf, type Shown, useAddress } from './address.ts';
import { Filters } from './filters.tsx';
import { Row } from './row.tsx';
import { changesTexts } from './texts.ts';
import './changes.css';

const PAGE = 30;

export default function Changes() {
  const t = useTexts(changesTexts);
  if (useIsAdministrator()) return <Screen />;
  return (
    <>
      <PageTitle title={t.title} />
      <ForAdministrators>{null}</ForAdministrators>
    </>
  );
}

function Screen() {
  const t = useTexts(changesTexts);
  const [shown, show] = useAddress();
  return (
    <>
      <PageTitle title={t.title}>
        <Link to="/changes/diff">{t.compare}</Link>
      </PageTitle>
      <section className="panel" aria-label={t.list}>
        <Filters shown={shown} show={show} />
        <List shown={shown} show={show} />
      </section>
    </>
  );
}

interface Props {
  shown: Shown;
  show: (changes: Partial<Shown>) => void;
}

const NOTHING: Shown = { resource: null, resourceId: null, by: '', from: null, to: null, tenant: null };

function List({ shown, show }: Props) {
  const t = useTexts(changesTexts);
  const filter = filterOf(shown);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['changes', 'list', filter],
    queryFn: ({ pageParam, signal }) =>
      api.listChanges({ ...filter, limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ data: { next } }) => next ?? undefined,
    staleTime: 0,
  });
  if (error && !data) {
    return (
      <>
        <Failed error={error} retry={refetch} />
        {isRefusal(error, 'TOO_MANY_LEDGERS') && (
          <p className="changes-onward">
            <Button onClick={() => show({ tenant: 'own' })}>{t.ownOnly}</Button>
          </p>
        )}
      </>
    );
  }
  if (!data) return <Loading />;
  const rows = data.pages.flatMap(({ data: { rows } }) => rows);
  const [first] = rows;
  const filtered = Object.keys(filter).length > 0;
  if (!first) {
    return (
      <Empty text={filtered ? t.noneFound : t.none}>
        {filtered && <Button onClick={() => show(NOTHING)}>{t.clear}</Button>}
      </Empty>
    );
  }
  return (
    <>
      {shown.resourceId && (
        <Alert
          type="info"
          className="gap-below"
          title={t.ofOne(nameIn(first) || `#${shown.resourceId}`)}
          action={
            <Button size="small" onClick={() => show({ resource: null, resourceId: null })}>
              {t.showAll}
            </Button>
          }
        />
      )}
      <ul className="rows">
        {rows.map((change) => (
          <Row key={`${change.tenantId}/${change.id}`} change={change} />
        ))}
      </ul>
      {error && <Failed error={error} />}
      {hasNextPage && (
        <p className="changes-onward">
          <Button loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {t.older}
          </Button>
        </p>
      )}
    </>
  );
}
