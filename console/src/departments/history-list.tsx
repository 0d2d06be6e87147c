import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { api, type TimelineEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { ActionTag, formatDateTime } from '../ui/change-summary.tsx';
import { changeTexts } from '../ui/change-texts.ts';
import { FieldChanges } from '../ui/field-changes.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { departmentsTexts } from './texts.ts';

/** The changes of a department, newest first. */
export function HistoryList({ id }: { id: number }) {
  const t = useTexts(departmentsTexts);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: queryKeys.departments.history(id),
    queryFn: ({ pageParam, signal }) =>
      api.readDepartmentHistory(id, { limit: 20, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ data: { next } }) => next ?? undefined,
    staleTime: 0,
  });
  if (error && !data) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const rows = data.pages.flatMap(({ data: { rows } }) => rows);
  if (rows.length === 0) return <Empty text={t.noHistory} />;
  return (
    <section aria-label={t.history}>
      <ol className="item-list">
        {rows.map((entry) => (
          <HistoryEntry key={entry.id} entry={entry} />
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

function HistoryEntry({ entry: { action, by, time, before, after } }: { entry: TimelineEntry }) {
  const t = useTexts(changeTexts);
  return (
    <li className="departments-history-entry">
      <div className="change-title">
        <ActionTag action={action} />
        <span className="secondary">{t.byUser(by || t.system, formatDateTime(time))}</span>
      </div>
      <FieldChanges change={{ resource: 'department', before, after }} />
    </li>
  );
}
