import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Child } from '../api.ts';
import { useTexts } from '../language.ts';
import { useStore } from '../store.ts';
import { departmentsTexts } from './texts.ts';
import { TreeLine } from './tree-row.tsx';
import { type TreeRow, visibleRows } from './tree-rows.ts';
import { TOP, type TreeStore } from './tree-store.ts';
import { type Drag, type Dragging, useDrag } from './use-drag.ts';
import { useTreeKeys } from './use-tree-keys.ts';
import { useWindow } from './use-window.ts';

interface Props {
  tree: TreeStore;
  label: string;
  id?: string;
  current: number | undefined;
  /** Brought into sight while nothing is current. */
  around?: number | undefined;
  onOpen: (node: Child) => void;
  marked?: ReadonlySet<number> | undefined;
  onMark?: ((node: Child) => void) | undefined;
  /** Keys of the screen's own; true when it was one. */
  onKey?: ((event: KeyboardEvent, node: Child) => boolean) | undefined;
  dragging?: Dragging | undefined;
  /** Why a department cannot be chosen; shown with it. */
  refusalOf?: ((node: Child) => string | undefined) | undefined;
}

export const ROW = 36;

export function Tree({ tree, label, id, current, around, onOpen, marked, onMark, onKey, dragging, refusalOf }: Props) {
  const t = useTexts(departmentsTexts);
  const prefix = useId();
  const state = useStore(tree.state);
  const rows = useMemo(() => visibleRows(state), [state]);
  const scroller = useRef<HTMLDivElement>(null);
  const { first, last, show } = useWindow(scroller, rows.length, ROW);
  const [activeKey, setActiveKey] = useState<string>();
  const { drag, begin, label: dragLabel } = useDrag(scroller, rows, ROW, dragging);
  const active = Math.max(
    0,
    rows.findIndex(({ key }) => key === activeKey),
  );

  useEffect(() => void tree.expand(TOP), [tree]);

  // The department of the address is shown as soon as it is in the tree; after that the person scrolls.
  const wanted = current ?? around;
  const shown = useRef<number>(undefined);
  useEffect(() => {
    if (wanted === shown.current) return;
    const index = rows.findIndex((row) => row.kind === 'dept' && row.node.deptId === wanted);
    if (wanted !== undefined && index < 0) return;
    shown.current = wanted;
    if (wanted === undefined) return;
    setActiveKey(rows[index]?.key);
    show(index);
  }, [rows, show, wanted]);

  // Who scrolls to the end of what was read reads on.
  useEffect(() => {
    for (const row of rows.slice(first, last)) if (row.kind === 'more' && !row.inBetween) void tree.more(row.parentId);
  }, [rows, first, last, tree]);

  const act = useCallback(
    (what: 'open' | 'toggle' | 'mark' | 'read', row: TreeRow) => {
      setActiveKey(row.key);
      if (row.kind === 'failed' || row.kind === 'more') return void tree.more(row.parentId);
      if (row.kind !== 'dept') return;
      if (what === 'mark' && onMark) onMark(row.node);
      else if (what === 'toggle') {
        if (row.open) tree.collapse(row.node.deptId);
        else void tree.expand(row.node.deptId);
      } else if (!refusalOf?.(row.node)) onOpen(row.node);
    },
    [tree, onMark, onOpen, refusalOf],
  );
  const meant = (event: MouseEvent) => {
    const element = event.target as HTMLElement;
    const key = element.closest<HTMLElement>('[data-key]')?.dataset.key;
    const what = element.closest<HTMLElement>('[data-act]')?.dataset.act as 'toggle' | 'mark' | undefined;
    return { row: rows.find((row) => row.key === key), what };
  };
  const press = (event: PointerEvent) => {
    const { row, what } = meant(event);
    if (row?.kind === 'dept' && !what) begin(event, row.node);
  };
  const click = (event: MouseEvent) => {
    const { row, what } = meant(event);
    if (row) act(what ?? (event.ctrlKey || event.metaKey ? 'mark' : 'open'), row);
  };
  const keys = useTreeKeys({ rows, active, page: Math.max(1, last - first - 24), act, onKey, go });

  function go(index: number) {
    setActiveKey(rows[index]?.key);
    show(index);
  }
  const words = ({ moved, target }: Drag) => {
    if (!target) return moved.deptName;
    const say = { into: t.dropInto, before: t.dropBefore, after: t.dropAfter }[target.where];
    return say(moved.deptName, target.node.deptName);
  };
  const activeRow = rows[active];
  const isDrawn = active >= first && active < last;
  return (
    <>
      <div
        ref={scroller}
        id={id}
        role="tree"
        aria-label={label}
        aria-multiselectable={onMark ? true : undefined}
        aria-activedescendant={activeRow && isDrawn ? `${prefix}${activeRow.key}` : undefined}
        tabIndex={0}
        className={`departments-tree${drag ? ' is-dragging' : ''}`}
        onKeyDown={keys}
        onClick={click}
        onPointerDown={press}
      >
        <div role="none" className="departments-tree-all" style={{ height: rows.length * ROW }}>
          {rows.slice(first, last).map((row, index) => (
            <TreeLine
              key={row.key}
              id={`${prefix}${row.key}`}
              row={row}
              top={(first + index) * ROW}
              active={first + index === active}
              current={row.kind === 'dept' && row.node.deptId === current}
              marked={marked && row.kind === 'dept' ? marked.has(row.node.deptId) : undefined}
              drop={
                row.kind === 'dept' && drag?.target?.node === row.node
                  ? drag.refusal
                    ? 'refused'
                    : drag.target.where
                  : undefined
              }
              refusal={row.kind === 'dept' ? refusalOf?.(row.node) : undefined}
            />
          ))}
        </div>
      </div>
      {drag && (
        <div ref={dragLabel} className={`departments-drag${drag.refusal ? ' is-refused' : ''}`} role="status">
          {drag.refusal ?? words(drag)}
        </div>
      )}
    </>
  );
}
