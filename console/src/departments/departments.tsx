import { PlusOutlined } from '@ant-design/icons';
import { useQueryClient } from '@tanstack/react-query';
import { Button } from 'antd';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import type { Child, Dept } from '../api.ts';
import type { Tagged } from '../calls.ts';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { useHasDraft } from '../ui/draft.tsx';
import { useIsHere } from '../ui/is-here.ts';
import { useNotices } from '../ui/notices.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty } from '../ui/states.tsx';
import { CreateDialog } from './create.tsx';
import { Department } from './department.tsx';
import { MoveDialog } from './move-dialog.tsx';
import { RemoveDialog } from './remove.tsx';
import { Side } from './side.tsx';
import { departmentsTexts } from './texts.ts';
import { makeTree, readingDepartment, TOP } from './tree-store.ts';
import { useDialog } from './use-dialog.ts';
import './departments.css';

const TREE = 'departments-tree';

export default function Departments() {
  const t = useTexts(departmentsTexts);
  const { id: inAddress } = useParams();
  const id = inAddress && /^\d{1,16}$/.test(inAddress) ? Number(inAddress) : undefined;
  const administrator = useIsAdministrator();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const notices = useNotices();
  const isHere = useIsHere();
  const [tree] = useState(makeTree);
  const [marked, setMarked] = useState<ReadonlyMap<number, Dept>>();
  const editing = useEditing(id);
  const create = useDialog<{ deptId: number; deptName: string }>();
  const move = useDialog<Dept>();
  const remove = useDialog<Dept[]>();

  useEffect(() => {
    // What cannot be read is told on the right.
    if (id !== undefined) void tree.reveal(id).catch(() => undefined);
  }, [tree, id]);

  const go = (to: number | undefined) => navigate(to ? `/departments/${to}` : '/departments');
  const focusTree = () => document.getElementById(TREE)?.focus();
  const refresh = async (...parents: number[]) => {
    await tree.reload(...parents);
    if (id !== undefined) await tree.reveal(id).catch(() => undefined);
  };
  const mark = (node: Child) =>
    setMarked((before) => {
      const after = new Map(before);
      if (!after.delete(node.deptId)) after.set(node.deptId, node);
      return after;
    });
  const edit = async (node: Child) => {
    go(node.deptId);
    await queries
      .fetchQuery({ ...readingDepartment(node.deptId), staleTime: 0 })
      .then(editing.begin)
      .catch(notices.failed);
  };
  const keys = (event: KeyboardEvent, node: Child): boolean => {
    if (!administrator || event.altKey || event.ctrlKey) return false;
    if (event.key === 'Insert' && node.status === '0') create.show(node);
    else if (event.key === 'F2') void edit(node);
    else if (event.key === 'Delete') remove.show(marked?.size ? [...marked.values()] : [node]);
    else return false;
    return true;
  };
  const removed = (depts: Dept[]) => {
    const gone = new Set(depts.map(({ deptId }) => deptId));
    setMarked((before) => before && new Map([...before].filter(([id]) => !gone.has(id))));
    const here = depts.find(({ deptId }) => id !== undefined && tree.isWithin(id, deptId));
    if (here) go(here.parentId || undefined);
    void refresh(...depts.map(({ parentId }) => parentId)).then(focusTree);
  };
  return (
    <div className={`departments${id === undefined ? '' : ' has-department'}`}>
      <PageTitle title={t.title}>
        {administrator && (
          <Button icon={<PlusOutlined />} onClick={() => create.show({ deptId: TOP, deptName: '' })}>
            {t.create}
          </Button>
        )}
      </PageTitle>
      <div className="departments-split">
        <Side
          tree={tree}
          treeId={TREE}
          current={id}
          go={(to) => go(to)}
          marked={marked}
          setMarked={setMarked}
          mark={administrator ? mark : undefined}
          keys={keys}
          remove={(depts) => remove.show(depts)}
          refresh={refresh}
        />
        <div className="departments-detail">
          {id !== undefined ? (
            <Department
              id={id}
              tree={tree}
              editing={editing.from}
              edit={(from) => (from ? editing.begin(from) : editing.end())}
              saved={({ parentId }) => void refresh(parentId)}
              create={create.show}
              move={move.show}
              remove={remove.show}
            />
          ) : (
            <Empty text={t.choose} />
          )}
        </div>
      </div>
      {create.about && (
        <CreateDialog
          {...create}
          parent={create.about}
          made={(made, parentId, another) => {
            const { pathname } = window.location;
            const isWaiting = () => isHere() && window.location.pathname === pathname;
            void tree
              .reload(parentId)
              .then(() => tree.expand(parentId))
              .then(() => another || (isWaiting() && go(made)));
          }}
        />
      )}
      {move.about && <MoveDialog {...move} dept={move.about} moved={(parents) => void refresh(...parents)} />}
      {remove.about && (
        <RemoveDialog
          {...remove}
          depts={remove.about}
          removed={removed}
          show={(below) => navigate(`/departments/${below}?tab=children`)}
        />
      )}
    </div>
  );
}

/** Which department is being edited, and from what. One with something typed is, as soon as it is shown again. */
function useEditing(id: number | undefined) {
  const [from, setFrom] = useState<Tagged<Dept>>();
  const hasDraft = useHasDraft(`dept-${id}`);
  const queries = useQueryClient();
  const administrator = useIsAdministrator();
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another one is shown, not when typing begins
  useEffect(() => {
    if (id === undefined || !hasDraft || !administrator) return;
    void queries
      .fetchQuery(readingDepartment(id))
      .then(setFrom)
      .catch(() => undefined);
  }, [id]);
  const end = () => {
    setFrom(undefined);
    // The form had the focus, and is gone with the next picture.
    requestAnimationFrame(() => document.getElementById('departments-edit')?.focus());
  };
  return { from: from?.data.deptId === id ? from : undefined, begin: setFrom, end };
}
