import { ArrowLeftOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { api, type Diff } from '../api.ts';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { useSearch } from '../ui/address.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Panel } from '../ui/panel.tsx';
import { Empty, Failed, ForAdministrators, Loading } from '../ui/states.tsx';
import { Changed, Created, Deleted, Moved, Renamed } from './difference-lists.tsx';
import { daysAgo, Moments } from './moments.tsx';
import { differenceTexts } from './texts.ts';
import './changes.css';

/** How the departments of two moments differ. Both moments are in the address. */
export default function Difference() {
  const t = useTexts(differenceTexts);
  const administrator = useIsAdministrator();
  return (
    <div className="cards">
      <PageTitle title={t.title}>
        {administrator && (
          <Link to="/changes">
            <ArrowLeftOutlined aria-hidden /> {t.back}
          </Link>
        )}
      </PageTitle>
      {administrator ? <Screen /> : <ForAdministrators>{null}</ForAdministrators>}
    </div>
  );
}

function Screen() {
  const t = useTexts(differenceTexts);
  const [search, change] = useSearch();
  const [weekAgo] = useState(() => daysAgo(7));
  const from = search.get('from') || weekAgo;
  const to = search.get('to') || null;
  const backwards = to !== null && Date.parse(to) < Date.parse(from);
  const { data, error, refetch } = useQuery({
    queryKey: ['dept-diff', from, to],
    queryFn: ({ signal }) => api.compareDepartments({ from, ...(to ? { to } : {}) }, signal),
    enabled: !backwards,
    staleTime: 0,
  });
  const show = (moments: { from?: string; to?: string | null }) =>
    change((now) => ({ from: now.get('from') || weekAgo, ...moments }));
  return (
    <>
      <Panel>
        <Moments from={from} to={to} show={show} />
        <p className="quiet changes-hint">{t.hint}</p>
      </Panel>
      {backwards ? (
        <p role="alert">{t.backwards}</p>
      ) : error ? (
        <Failed error={error} retry={refetch} />
      ) : data ? (
        <Lists diff={data.data} />
      ) : (
        <Loading />
      )}
    </>
  );
}

function Lists({ diff }: { diff: Diff }) {
  const t = useTexts(differenceTexts);
  if (Object.values(diff).every(({ length }) => length === 0)) return <Empty text={t.nothing} />;
  return (
    <>
      <Created rows={diff.created} />
      <Moved rows={diff.moved} />
      <Renamed rows={diff.renamed} />
      <Changed rows={diff.changed} />
      <Deleted rows={diff.deleted} />
    </>
  );
}
