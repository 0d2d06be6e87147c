import { useQuery } from '@tanstack/react-query';
import { Pagination, Switch } from 'antd';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { api, type User } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { PhoneLink } from '../ui/phone-link.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { departmentsTexts } from './texts.ts';

const PAGE_SIZE = 20;

export function UserList({ id }: { id: number }) {
  const t = useTexts(departmentsTexts);
  const [search, setSearch] = useSearchParams();
  const includeDescendants = search.get('below') === 'true';
  // The page belongs to one list: another department or filter starts at page 1 again.
  const listKey = `${id} ${includeDescendants}`;
  const [page, setPage] = useState({ listKey, pageNum: 1 });
  const pageNum = page.listKey === listKey ? page.pageNum : 1;
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.departments.users(id, { includeDescendants, pageNum }),
    queryFn: ({ signal }) =>
      api.listDepartmentUsers(id, { below: includeDescendants, pageNum, pageSize: PAGE_SIZE }, signal),
  });
  const rows = data?.data.rows ?? [];
  const total = data?.data.total ?? 0;
  return (
    <section aria-label={t.users}>
      <div className="departments-users-header">
        <span>{data ? t.userTotal(total) : t.users}</span>
        <span>
          <Switch
            id="departments-below"
            size="small"
            checked={includeDescendants}
            onChange={(on) => setSearch({ tab: 'people', ...(on ? { below: 'true' } : {}) }, { replace: true })}
          />{' '}
          <label htmlFor="departments-below">{t.includeDescendants}</label>
        </span>
      </div>
      {error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : total === 0 ? (
        <Empty text={includeDescendants ? t.noUsersInSubtree : t.noUsers} />
      ) : (
        <>
          <ul className="item-list">
            {rows.map((user) => (
              <UserItem key={user.userId} user={user} />
            ))}
          </ul>
          <Pagination
            className="departments-pagination"
            hideOnSinglePage
            showSizeChanger={false}
            current={pageNum}
            pageSize={PAGE_SIZE}
            total={total}
            onChange={(next) => setPage({ listKey, pageNum: next })}
          />
        </>
      )}
    </section>
  );
}

export function UserItem({ user }: { user: User }) {
  const t = useTexts(departmentsTexts);
  return (
    <li>
      <span className="departments-item-main">
        <span>
          {user.nickName || user.userName}
          {user.nickName && <span className="secondary"> {user.userName}</span>}
        </span>
        <span className="secondary">{[user.position, user.email].filter(Boolean).join(' · ')}</span>
        {user.phone && <PhoneLink phone={user.phone} />}
      </span>
      <span className="departments-item-tags">
        {user.roles.includes('admin') && <StatusTag tone="success">{t.administrator}</StatusTag>}
        {user.status === '1' && <StatusTag>{t.disabled}</StatusTag>}
      </span>
    </li>
  );
}
