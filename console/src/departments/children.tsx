import { useInfiniteQuery } from '@tanstack/react-query';
import { Button, Tag } from 'antd';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { departmentsTexts } from './texts.ts';

export function ChildList({ id }: { id: number }) {
  const t = useTexts(departmentsTexts);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['dept-children', id, 'list'],
    queryFn: ({ pageParam, signal }) =>
      api.listChildren(id, { limit: 50, counts: true, ...(pageParam ? { cursor: pageParam } : {}) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ data: { next } }) => next ?? undefined,
  });
  if (error) return <Failed error={error} retry={refetch} />;
  if (!data) return <Loading />;
  const rows = data.pages.flatMap(({ data: { rows } }) => rows);
  if (rows.length === 0) return <Empty text={t.noChildren} />;
  return (
    <section aria-label={t.children}>
      <ul className="rows">
        {rows.map(({ deptId, deptName, leader, status, userCount }) => (
          <li key={deptId}>
            <span className="departments-who">
              <Link to={`/departments/${deptId}`}>{deptName || t.unnamed(deptId)}</Link>
              {leader && <span className="quiet">{`${t.leader} ${leader}`}</span>}
            </span>
            <span className="departments-beside">
              {status === '1' && <Tag>{t.disabled}</Tag>}
              {userCount !== undefined && <span className="quiet">{t.userCount(userCount)}</span>}
            </span>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button type="link" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {t.more}
        </Button>
      )}
    </section>
  );
}
