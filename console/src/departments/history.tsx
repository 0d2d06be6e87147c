import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { api, type LifeEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { Did, momentOf } from '../ui/change.tsx';
import { changeTexts } from '../ui/change-texts.ts';
import { Differences } from '../ui/differences.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { departmentsTexts } from './texts.ts';

/** All that was done to a department, the latest first. */
export function History({ id }: { id: number }) {
  const t = useTexts(departmentsTexts);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['dept', id, 'history'],
    queryFn: ({ pageParam, signal }) =>
      api.readDepartmentHistory(id, { limit: 20, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ data: { next } }) => next ?? undefined,
    staleTime: 0,
  });
  if (error && !data) return <Failed error={error} retry={refetch} />;
  if (!data) return <Loading />;
  const rows = data.pages.flatMap(({ data: { rows } }) => rows);
  if (rows.length === 0) return <Empty text={t.noHistory} />;
  return (
    <section aria-label={t.history}>
      <ol className="rows">
        {rows.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ol>
      {hasNextPage && (
        <Button type="link" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {t.olderHistory}
        </Button>
      )}
    </section>
  );
}

function Entry({ entry: { action, by, time, before, after } }: { entry: LifeEntry }) {
  const t = useTexts(changeTexts);
  return (
    <li className="departments-life">
      <div className="change-what">
        <Did action={action} />
        <span className="quiet">{t.by(by || t.somebody, momentOf(time))}</span>
      </div>
      <Differences change={{ resource: 'department', before, after }} />
    </li>
  );
}
