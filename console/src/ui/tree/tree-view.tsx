import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from 'react';
import { MemoizedTreeRow } from './tree-row.tsx';
import type { DragHandlers, RowAction, TreeRow, TreeRowButton } from './types.ts';
import { useTreeDrag } from './use-tree-drag.ts';
import { useTreeKeyboard } from './use-tree-keyboard.ts';
import { useVirtualRows } from './use-virtual-rows.ts';
import './tree.css';

interface Props<Node, Id> {
  /** The visible rows from top to bottom. Memoize them: rows that did not change are not rendered again. */
  rows: TreeRow<Node, Id>[];
  label: string;
  id?: string;
  selectedId: Id | undefined;
  /** Scrolled into view while nothing is selected. */
  initialId?: Id | undefined;
  onOpen: (node: Node) => void;
  onToggle: (node: Node, expand: boolean) => void;
  /** Loads the next page of children, or retries after an error. */
  onLoadMore: (parentId: Id) => void;
  loadMoreText?: string;
  checkedIds?: ReadonlySet<Id> | undefined;
  onCheck?: ((node: Node) => void) | undefined;
  /** Additional keys of the screen. Returns true if it has handled the event. */
  onNodeKeyDown?: ((event: KeyboardEvent, node: Node) => boolean) | undefined;
  dragHandlers?: DragHandlers<Node> | undefined;
  /** Why a node cannot be selected; undefined if it can. */
  getDisabledReason?: ((node: Node) => string | undefined) | undefined;
  renderExtra?: (node: Node) => ReactNode;
  /** Read by screen readers after the name of a node. */
  getDescription?: (node: Node) => string | undefined;
  rowButtons?: readonly TreeRowButton<Node>[] | undefined;
  /** Called with the element of the button. */
  onRowButton?: ((key: string, node: Node, element: HTMLElement) => void) | undefined;
  /** For the popup of a combobox, which keeps the focus: receives the function that handles the keys of the tree. */
  keyHandler?: Ref<(event: KeyboardEvent) => void> | undefined;
  /** Called with the id of the element of the active row, for the combobox. */
  onActiveRow?: ((elementId: string | undefined) => void) | undefined;
}

const ROW_HEIGHT = 36;

/** A virtualised tree with keyboard navigation, checkboxes and drag and drop. It can show 10,000 rows. */
export function TreeView<Node, Id>(props: Props<Node, Id>) {
  const { rows, label, id, selectedId, initialId, onOpen, onToggle, onLoadMore, loadMoreText = '' } = props;
  const { checkedIds, onCheck, onNodeKeyDown, dragHandlers, getDisabledReason, renderExtra } = props;
  const { getDescription, rowButtons, onRowButton, keyHandler, onActiveRow } = props;
  const idPrefix = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const { first, last, visible, scrollToRow } = useVirtualRows(scroller, rows.length, ROW_HEIGHT);
  const [activeKey, setActiveKey] = useState<string>();
  const { drag, startDrag, labelRef } = useTreeDrag(scroller, rows, ROW_HEIGHT, dragHandlers);
  const activeIndex = Math.max(
    0,
    rows.findIndex(({ key }) => key === activeKey),
  );

  // Scroll to the selected node once it is loaded, and not again: after that the user scrolls.
  const revealId = selectedId ?? initialId;
  const revealedId = useRef<Id>(undefined);
  useEffect(() => {
    if (revealId === revealedId.current) return;
    const index = rows.findIndex((row) => row.kind === 'node' && row.id === revealId);
    if (revealId !== undefined && index < 0) return;
    revealedId.current = revealId;
    if (revealId === undefined) return;
    setActiveKey(rows[index]?.key);
    scrollToRow(index);
  }, [rows, scrollToRow, revealId]);

  useEffect(() => {
    for (const row of rows.slice(first, last)) if (row.kind === 'more' && row.autoLoad) onLoadMore(row.parentId);
  }, [rows, first, last, onLoadMore]);

  const handleAction = useCallback(
    (action: RowAction, row: TreeRow<Node, Id>) => {
      setActiveKey(row.key);
      if (row.kind === 'error' || row.kind === 'more') return onLoadMore(row.parentId);
      if (row.kind !== 'node') return;
      if (action === 'check' && onCheck) onCheck(row.node);
      else if (action === 'toggle') onToggle(row.node, !row.expanded);
      else if (!getDisabledReason?.(row.node)) onOpen(row.node);
    },
    [onLoadMore, onCheck, onToggle, onOpen, getDisabledReason],
  );
  const findTarget = (event: MouseEvent) => {
    const element = event.target as HTMLElement;
    const key = element.closest<HTMLElement>('[data-key]')?.dataset.key;
    const action = element.closest<HTMLElement>('[data-act]')?.dataset.act as 'check' | 'toggle' | undefined;
    const button = element.closest<HTMLElement>('[data-button]');
    return { row: rows.find((row) => row.key === key), action, button };
  };
  const handlePointerDown = (event: PointerEvent) => {
    const { row, action, button } = findTarget(event);
    if (row?.kind === 'node' && !action && !button) startDrag(event, row);
  };
  const handleClick = (event: MouseEvent) => {
    const { row, action, button } = findTarget(event);
    if (button && row?.kind === 'node') onRowButton?.(button.dataset.button ?? '', row.node, button);
    else if (row) handleAction(action ?? (event.ctrlKey || event.metaKey ? 'check' : 'open'), row);
  };
  const handleKeyDown = useTreeKeyboard({
    rows,
    activeIndex,
    pageSize: visible,
    onAction: handleAction,
    onNodeKeyDown,
    onMove: (index) => {
      setActiveKey(rows[index]?.key);
      scrollToRow(index);
    },
  });
  const getDropClass = (row: TreeRow<Node, Id>) => {
    if (row.kind !== 'node' || drag?.target?.node !== row.node) return undefined;
    return drag.error ? 'drop-forbidden' : `drop-${drag.target.position}`;
  };
  const activeRow = rows[activeIndex];
  const isActiveRendered = activeIndex >= first && activeIndex < last;
  const activeElementId = activeRow && isActiveRendered ? `${idPrefix}${activeRow.key}` : undefined;
  useImperativeHandle(keyHandler, () => handleKeyDown);
  useEffect(() => onActiveRow?.(activeElementId), [activeElementId, onActiveRow]);
  const isPopup = keyHandler !== undefined;
  return (
    <>
      <div
        ref={scroller}
        id={id}
        role="tree"
        aria-label={label}
        aria-multiselectable={onCheck ? true : undefined}
        aria-activedescendant={isPopup ? undefined : activeElementId}
        tabIndex={isPopup ? -1 : 0}
        className={`tree${drag ? ' is-dragging' : ''}${isPopup ? ' is-popup' : ''}`}
        onKeyDown={handleKeyDown}
        onClick={handleClick}
        onPointerDown={handlePointerDown}
      >
        <div role="none" className="tree-content" style={{ height: rows.length * ROW_HEIGHT }}>
          {rows.slice(first, last).map((row, index) => (
            <MemoizedTreeRow
              key={row.key}
              id={`${idPrefix}${row.key}`}
              row={row}
              top={(first + index) * ROW_HEIGHT}
              active={first + index === activeIndex}
              selected={row.kind === 'node' && row.id === selectedId}
              checked={checkedIds && row.kind === 'node' ? checkedIds.has(row.id) : undefined}
              dropClass={getDropClass(row)}
              disabledReason={row.kind === 'node' ? getDisabledReason?.(row.node) : undefined}
              loadMoreText={loadMoreText}
              renderExtra={renderExtra}
              description={row.kind === 'node' ? getDescription?.(row.node) : undefined}
              buttons={rowButtons}
            />
          ))}
        </div>
      </div>
      {drag && (
        <div ref={labelRef} className={`tree-drag-label${drag.error ? ' is-forbidden' : ''}`} role="status">
          {drag.error ?? dragHandlers?.getLabel(drag.moved, drag.target)}
        </div>
      )}
    </>
  );
}
