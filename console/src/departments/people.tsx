import { useQuery } from '@tanstack/react-query';
import { Pagination, Switch, Tag } from 'antd';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { api, type User } from '../api.ts';
import { useTexts } from '../language.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { departmentsTexts } from './texts.ts';

const PAGE = 20;

export function PeopleList({ id }: { id: number }) {
  const t = useTexts(departmentsTexts);
  const [search, setSearch] = useSearchParams();
  const below = search.get('below') === 'true';
  const [place, setPlace] = useState({ of: `${id} ${below}`, pageNum: 1 });
  const of = `${id} ${below}`;
  // Another department, or another switch: from the beginning.
  const pageNum = place.of === of ? place.pageNum : 1;
  const { data, error, refetch } = useQuery({
    queryKey: ['dept-users', id, { below, pageNum }],
    queryFn: ({ signal }) => api.listDepartmentUsers(id, { below, pageNum, pageSize: PAGE }, signal),
  });
  const rows = data?.data.rows ?? [];
  const total = data?.data.total ?? 0;
  return (
    <section aria-label={t.people}>
      <div className="departments-switch">
        <span>{data ? t.peopleCount(total) : t.people}</span>
        <span>
          <Switch
            id="departments-below"
            size="small"
            checked={below}
            onChange={(on) => setSearch({ tab: 'people', ...(on ? { below: 'true' } : {}) }, { replace: true })}
          />{' '}
          <label htmlFor="departments-below">{t.below}</label>
        </span>
      </div>
      {error ? (
        <Failed error={error} retry={refetch} />
      ) : !data ? (
        <Loading />
      ) : total === 0 ? (
        <Empty text={below ? t.noPeopleBelow : t.noPeople} />
      ) : (
        <>
          <ul className="rows">
            {rows.map((user) => (
              <Person key={user.userId} user={user} />
            ))}
          </ul>
          <Pagination
            className="departments-pages"
            hideOnSinglePage
            showSizeChanger={false}
            current={pageNum}
            pageSize={PAGE}
            total={total}
            onChange={(next) => setPlace({ of, pageNum: next })}
          />
        </>
      )}
    </section>
  );
}

export function Person({ user }: { user: User }) {
  const t = useTexts(departmentsTexts);
  return (
    <li>
      <span className="departments-who">
        <span>
          {user.nickName || user.userName}
          {user.nickName && <span className="quiet"> {user.userName}</span>}
        </span>
        <span className="quiet">{[user.phone, user.email].filter(Boolean).join(' · ')}</span>
      </span>
      <span className="departments-beside">
        {user.roles.includes('admin') && <Tag color="green">{t.administrator}</Tag>}
        {user.status === '1' && <Tag>{t.disabled}</Tag>}
      </span>
    </li>
  );
}
