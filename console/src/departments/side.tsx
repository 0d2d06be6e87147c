import {
  CheckSquareOutlined,
  CloseOutlined,
  DeleteOutlined,
  QuestionCircleOutlined,
  ReloadOutlined,
} from '@ant-design/icons';
import { App, Button, Tooltip } from 'antd';
import type { KeyboardEvent } from 'react';
import type { Child, Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { useStore } from '../store.ts';
import { useAction } from '../ui/action.ts';
import { Empty } from '../ui/states.tsx';
import { CHANGED } from './changed.ts';
import { parentOf, place, type Target, whyNot } from './placing.ts';
import { Search } from './search.tsx';
import { departmentsTexts } from './texts.ts';
import { Tree } from './tree.tsx';
import { TOP, type TreeStore } from './tree-store.ts';

interface Props {
  tree: TreeStore;
  treeId: string;
  current: number | undefined;
  go: (id: number) => void;
  marked: ReadonlyMap<number, Dept> | undefined;
  setMarked: (marked: ReadonlyMap<number, Dept> | undefined) => void;
  /** undefined for who may not change anything. */
  mark: ((node: Child) => void) | undefined;
  keys: (event: KeyboardEvent, node: Child) => boolean;
  remove: (depts: Dept[]) => void;
  refresh: (...parents: number[]) => Promise<void>;
}

const MOST = 500;

/** The left half: search, tree, and what is done with several at once. */
export function Side({ tree, treeId, current, go, marked, setMarked, mark, keys, remove, refresh }: Props) {
  const t = useTexts(departmentsTexts);
  const { message } = App.useApp();
  const put = useAction({
    run: ({ moved, target }: { moved: Child; target: Target }) => place(tree, moved, target),
    done: (_, { moved, target }) => (parentOf(target) === moved.parentId ? t.ordered : t.moved(moved.deptName)),
    changes: CHANGED,
    after: (_, { moved, target }) => void refresh(moved.parentId, parentOf(target)),
    refused: (_, { moved, target }) => {
      // The tree was not what the service has: shown as it is now, beside the reason.
      void refresh(moved.parentId, parentOf(target));
      return false;
    },
  });
  /** One after the other: where the second is to go may be another place once the first is done. */
  const putOrSay = (moved: Child, target: Target) => {
    if (put.busy) void message.info({ key: 'departments-busy', content: t.stillSaving(moved.deptName) });
    else put.start({ moved, target });
  };
  const dragging = mark && {
    whyNot: (moved: Child, target: Target) => whyNot(tree, moved, target),
    drop: putOrSay,
    hold: (node: Child) => void tree.expand(node.deptId),
  };
  const onKey = (event: KeyboardEvent, node: Child): boolean => {
    const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!mark || !event.altKey || !down) return keys(event, node);
    const siblings = tree.state.get().branches.get(node.parentId)?.rows ?? [];
    const index = siblings.findIndex(({ deptId }) => deptId === node.deptId);
    const beside = siblings[index + down];
    const target: Target | undefined = beside && { node: beside, where: down > 0 ? 'after' : 'before' };
    const refusal = index < 0 ? t.loadFirst : target && whyNot(tree, node, target);
    if (refusal) void message.info(refusal);
    else if (target) putOrSay(node, target);
    return true;
  };
  const refreshAll = () => {
    tree.forgetClosed();
    void refresh(...opened(tree));
  };
  const pick = (id: number) => {
    go(id);
    requestAnimationFrame(() => document.getElementById(treeId)?.focus());
  };
  const count = marked?.size ?? 0;
  const top = useStore(tree.state).branches.get(TOP);
  const isEmpty = top?.state === 'ready' && top.rows.length === 0;
  return (
    <section className="departments-side" aria-label={t.tree} aria-busy={put.busy}>
      <Search onPick={pick}>
        <div className="departments-tools">
          {marked ? (
            <>
              <span role="status">{t.selected(count)}</span>
              <Tooltip title={count > MOST ? t.tooMany : undefined}>
                <Button
                  danger
                  size="small"
                  icon={<DeleteOutlined />}
                  disabled={count === 0 || count > MOST}
                  onClick={() => remove([...marked.values()])}
                >
                  {t.removeSelected}
                </Button>
              </Tooltip>
              <Button size="small" type="text" icon={<CloseOutlined />} onClick={() => setMarked(undefined)}>
                {t.endSelect}
              </Button>
            </>
          ) : (
            <>
              {mark && (
                <Button size="small" type="text" icon={<CheckSquareOutlined />} onClick={() => setMarked(new Map())}>
                  {t.select}
                </Button>
              )}
              <Button size="small" type="text" icon={<ReloadOutlined />} onClick={refreshAll}>
                {t.refresh}
              </Button>
              <Tooltip title={mark ? t.keys : t.keysForReading} trigger={['hover', 'focus', 'click']}>
                <Button size="small" type="text" icon={<QuestionCircleOutlined />} aria-label={t.keysLabel} />
              </Tooltip>
            </>
          )}
        </div>
        {isEmpty ? (
          <Empty text={mark ? `${t.none}。${t.noneHint}` : t.none} />
        ) : (
          <Tree
            tree={tree}
            id={treeId}
            label={t.tree}
            current={current}
            onOpen={({ deptId }) => go(deptId)}
            marked={marked && new Set(marked.keys())}
            onMark={mark}
            onKey={onKey}
            dragging={dragging}
          />
        )}
      </Search>
    </section>
  );
}

const opened = (tree: TreeStore) => [TOP, ...[...tree.state.get().open].filter((id) => tree.node(id))];
