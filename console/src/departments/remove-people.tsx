import { useQuery } from '@tanstack/react-query';
import { Alert, App, Button } from 'antd';
import { type RefObject, useState } from 'react';
import { api, type Child, type Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { useAction } from '../ui/action.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { PEOPLE_CHANGED } from './changed.ts';
import { movePeople } from './moving-people.ts';
import { Person } from './people.tsx';
import { Picker } from './picker.tsx';
import { departmentsTexts } from './texts.ts';
import { TOP, type TreeStore } from './tree-store.ts';

interface Props {
  dept: Dept;
  below: boolean;
  busy: boolean;
  /** What is under way, for the dialog to stop. */
  moving: RefObject<AbortController | undefined>;
  cancel: () => void;
  /** Nobody is there any more. */
  moved: () => void;
}

const SHOWN = 5;

/** People are there: who they are, and to where they move, so that it can be deleted. */
export function HasPeople({ dept, below, busy, moving, cancel, moved }: Props) {
  const t = useTexts(departmentsTexts);
  const { message } = App.useApp();
  const [to, setTo] = useState<Child>();
  const [progress, setProgress] = useState<{ done: number; all: number }>();
  const { data, error, refetch } = useQuery({
    queryKey: ['dept-users', dept.deptId, { below, first: SHOWN }],
    queryFn: ({ signal }) => api.listDepartmentUsers(dept.deptId, { below, pageSize: SHOWN }, signal),
    staleTime: 0,
  });
  const move = useAction({
    run: async (to: number) => {
      const controller = new AbortController();
      moving.current = controller;
      const { signal } = controller;
      const told = (done: number, all: number) => setProgress({ done, all });
      const count = await movePeople({ deptId: dept.deptId, below, to, told, signal });
      return { count, stopped: signal.aborted };
    },
    changes: PEOPLE_CHANGED,
    after: ({ count, stopped }) => {
      if (stopped) void message.info(t.stoppedMoving(count));
      else moved();
    },
  });
  if (error) return <Failed error={error} retry={refetch} />;
  if (!data) return <Loading />;
  const { rows, total } = data.data;
  const working = move.busy || busy;
  const refusalOf = (tree: TreeStore, id: number) => {
    if (id === dept.deptId) return t.targetInBranch;
    for (let up = id; below && up !== TOP; up = tree.node(up)?.parentId ?? TOP)
      if (up === dept.deptId) return t.targetInBranch;
    return tree.node(id)?.status === '1' ? t.targetDisabled : undefined;
  };
  return (
    <>
      <Alert type="warning" showIcon title={below ? t.hasUsersBelow(total) : t.hasUsers(total)} className="gap-below" />
      <ul className="rows">
        {rows.map((user) => (
          <Person key={user.userId} user={user} />
        ))}
        {total > rows.length && <li className="quiet">{t.andMorePeople(total - rows.length)}</li>}
      </ul>
      <h3 className="departments-label">{t.peopleTo}</h3>
      <Picker label={t.peopleTo} value={to} onChange={setTo} around={dept.deptId} refusalOf={refusalOf} />
      <p role="status" className="quiet">
        {progress && working
          ? t.movingPeople(progress.done, progress.all)
          : to
            ? t.moveTarget(to.deptName)
            : t.moveNone}
      </p>
      <div className="actions">
        <Button onClick={cancel} disabled={busy}>
          {t.cancel}
        </Button>
        <Button danger type="primary" disabled={!to} loading={working} onClick={() => to && move.start(to.deptId)}>
          {t.moveAndRemove(total)}
        </Button>
      </div>
    </>
  );
}
