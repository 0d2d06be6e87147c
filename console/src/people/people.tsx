import { PlusOutlined } from '@ant-design/icons';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Grid, Pagination } from 'antd';
import { useEffect, useState } from 'react';
import { api, type User } from '../api.ts';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, Failed, ForAdministrators, Loading } from '../ui/states.tsx';
import { type Shown, useAddress } from './address.ts';
import { Chosen } from './chosen.tsx';
import { Elsewhere } from './elsewhere.tsx';
import { Filters } from './filters.tsx';
import { PersonDialog } from './person-dialog.tsx';
import { PeopleTable } from './table.tsx';
import type { Task } from './task.ts';
import { TaskDialog } from './task-dialog.tsx';
import { peopleTexts } from './texts.ts';
import './people.css';

const PAGE = 20;

export default function People() {
  const t = useTexts(peopleTexts);
  if (useIsAdministrator()) return <Screen />;
  return (
    <>
      <PageTitle title={t.title} />
      <ForAdministrators>{null}</ForAdministrators>
    </>
  );
}

function Screen() {
  const t = useTexts(peopleTexts);
  const [shown, show] = useAddress();
  const [task, setTask] = useState<Task | null>(null);
  const { chosen, choose, chooseNone } = useChosen(shown.tenantId);
  const edit = (person: Shown['person']) => show({ person });
  return (
    <>
      <PageTitle title={t.title}>
        <Button type="primary" icon={<PlusOutlined />} onClick={() => edit('new')}>
          {t.add}
        </Button>
      </PageTitle>
      {shown.tenantId && <Elsewhere tenantId={shown.tenantId} />}
      <section className="people-card" aria-label={t.title}>
        <Filters shown={shown} show={show} />
        {chosen.size > 0 && (
          <Chosen people={[...chosen.values()]} own={!shown.tenantId} act={setTask} none={chooseNone} />
        )}
        <List
          shown={shown}
          show={show}
          chosen={chosen}
          choose={choose}
          edit={({ userId }) => edit(userId)}
          act={setTask}
        />
      </section>
      <PersonDialog
        person={shown.person}
        tenantId={shown.tenantId}
        close={() => show({ person: null }, { replace: true })}
      />
      <TaskDialog
        task={task}
        close={(done) => {
          setTask(null);
          // Who was refused stays chosen, for another try.
          choose(
            done.map(({ user }) => user),
            false,
          );
        }}
      />
    </>
  );
}

interface Listing {
  shown: Shown;
  show: ReturnType<typeof useAddress>[1];
  chosen: ReadonlyMap<number, User>;
  choose: (people: User[], on: boolean) => void;
  edit: (user: User) => void;
  act: (task: Task) => void;
}

function List({ shown, show, ...rest }: Listing) {
  const t = useTexts(peopleTexts);
  const phone = !(Grid.useBreakpoint().md ?? window.innerWidth >= 768);
  const { q, deptId, status, page, tenantId } = shown;
  const filter = {
    pageNum: page,
    pageSize: PAGE,
    ...(q ? { q } : {}),
    ...(deptId === null ? {} : { deptId: String(deptId) }),
    ...(status === null ? {} : { status }),
    ...(tenantId ? { tenantId } : {}),
  };
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['user-list', filter],
    queryFn: ({ signal }) => api.listUsers(filter, signal),
    placeholderData: keepPreviousData,
  });
  const total = data?.data.total ?? 0;
  const last = Math.max(1, Math.ceil(total / PAGE));
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when there turn out to be fewer pages
  useEffect(() => {
    if (data && !isPlaceholderData && page > last) show({ page: last }, { replace: true });
  }, [data, isPlaceholderData, page, last]);
  if (error) return <Failed error={error} retry={refetch} />;
  if (!data) return <Loading />;
  const filtered = q !== '' || deptId !== null || status !== null;
  if (total === 0)
    return (
      <Empty text={filtered ? t.nobodyFound : t.nobody}>
        {filtered && (
          <Button onClick={() => show({ q: '', deptId: null, status: null, page: 1 })}>{t.clearFilters}</Button>
        )}
      </Empty>
    );
  return (
    <>
      <PeopleTable rows={data.data.rows} loading={isPlaceholderData} phone={phone} own={!tenantId} {...rest} />
      <nav className="people-pages" aria-label={t.paging}>
        <span className="quiet" role="status">
          {t.total(total)}
        </span>
        <Pagination
          current={page}
          total={total}
          pageSize={PAGE}
          simple={phone}
          showSizeChanger={false}
          hideOnSinglePage
          onChange={(page) => show({ page })}
        />
      </nav>
    </>
  );
}

/** Over all pages and searches, until another tenant is looked at. */
function useChosen(tenantId: string | undefined) {
  const [chosen, setChosen] = useState<ReadonlyMap<number, User>>(new Map());
  const chooseNone = () => setChosen(new Map());
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ids of one tenant mean others in another
  useEffect(chooseNone, [tenantId]);
  const choose = (people: User[], on: boolean) =>
    setChosen((before) => {
      const next = new Map(before);
      for (const user of people) on ? next.set(user.userId, user) : next.delete(user.userId);
      return next;
    });
  return { chosen, choose, chooseNone };
}
