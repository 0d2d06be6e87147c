import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { PersonLink } from '../ui/user/person-link.tsx';
import { departmentsTexts } from './texts.ts';

export function ChildList({ id }: { id: number }) {
  const t = useTexts(departmentsTexts);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: queryKeys.departments.children(id, 'list'),
    queryFn: ({ pageParam, signal }) =>
      api.listChildren(
        id,
        { limit: 50, counts: true, branchCounts: true, ...(pageParam ? { cursor: pageParam } : {}) },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ data: { next } }) => next ?? undefined,
  });
  if (error) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const rows = data.pages.flatMap(({ data: { rows } }) => rows);
  if (rows.length === 0) return <Empty text={t.noChildren} />;
  return (
    <section aria-label={t.children}>
      <ul className="item-list">
        {rows.map(({ deptId, deptName, leader, leaderId, status, userCount, branchUserCount }) => (
          <li key={deptId}>
            <span className="departments-item-main">
              <Link to={`/departments/${deptId}`}>{deptName || t.unnamed(deptId)}</Link>
              {leader && (
                <span className="secondary departments-leader">
                  <span>{t.leader}</span>
                  {leaderId === null ? leader : <PersonLink id={leaderId}>{leader}</PersonLink>}
                </span>
              )}
            </span>
            <span className="departments-item-tags">
              {status === '1' && <StatusTag>{t.disabled}</StatusTag>}
              {userCount !== undefined && (
                <span className="secondary">
                  {branchUserCount === undefined ? t.directCount(userCount) : t.branchCount(branchUserCount, userCount)}
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button type="link" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {t.loadMore}
        </Button>
      )}
    </section>
  );
}
