import {
  CheckSquareOutlined,
  CloseOutlined,
  DeleteOutlined,
  EllipsisOutlined,
  PlusOutlined,
  QuestionCircleOutlined,
  ReloadOutlined,
} from '@ant-design/icons';
import { App, Button, Tooltip } from 'antd';
import { type KeyboardEvent, useMemo, useState } from 'react';
import type { Child, Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { useStore } from '../store.ts';
import { DepartmentTree } from '../ui/department/department-tree.tsx';
import { isEmptyTree, reloadAll, type TreeStore } from '../ui/department/tree-store.ts';
import { Empty } from '../ui/states.tsx';
import type { TreeRowButton } from '../ui/tree/types.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { DepartmentSearch } from './department-search.tsx';
import { type DepartmentTarget, getTargetParent, moveDepartment, validateMove } from './move-department.ts';
import { type OpenMenu, RowMenu, type RowMenuActions } from './row-menu.tsx';
import { departmentsTexts } from './texts.ts';

interface Props {
  tree: TreeStore;
  treeId: string;
  selectedId: number | undefined;
  onOpen: (id: number) => void;
  /** The checked departments; undefined while the user is not selecting several. */
  checked: ReadonlyMap<number, Dept> | undefined;
  setChecked: (checked: ReadonlyMap<number, Dept> | undefined) => void;
  /** Undefined for members: they cannot change anything. */
  onCheck: ((node: Child) => void) | undefined;
  onNodeKeyDown: (event: KeyboardEvent, node: Child) => boolean;
  onDelete: (depts: Dept[]) => void;
  onRefresh: (...parentIds: number[]) => Promise<void>;
  onSearch: (keyword: string) => void;
  /** Creates a top-level department. */
  onCreate: () => void;
  /** What the buttons and the menu of a row do. */
  actions: RowMenuActions;
}

/** The service accepts this many ids in one delete request. */
const MAX_DELETED = 500;

/** The left side of the screen: search, tree and bulk actions. */
export function TreePanel(props: Props) {
  const {
    tree,
    treeId,
    selectedId,
    onOpen,
    checked,
    setChecked,
    onCheck,
    onNodeKeyDown,
    onDelete,
    onRefresh,
    onSearch,
    onCreate,
    actions,
  } = props;
  const [menu, setMenu] = useState<OpenMenu>();
  const t = useTexts(departmentsTexts);
  const { message } = App.useApp();
  const move = useApiMutation({
    mutationFn: ({ moved, target }: { moved: Child; target: DepartmentTarget }) => moveDepartment(tree, moved, target),
    successMessage: (_, { moved, target }) =>
      getTargetParent(target) === moved.parentId ? t.ordered : t.moved(moved.deptName),
    invalidates: affectedBy.departments,
    onSuccess: (_, { moved, target }) => void onRefresh(moved.parentId, getTargetParent(target)),
    onError: (_, { moved, target }) => {
      // The tree may be outdated. Load it again, in addition to the error message.
      void onRefresh(moved.parentId, getTargetParent(target));
      return false;
    },
  });
  /** Only one move at a time: the first one can change what the target of the second one means. */
  const moveUnlessBusy = (moved: Child, target: DepartmentTarget) => {
    if (move.isPending) void message.info({ key: 'departments-busy', content: t.stillSaving(moved.deptName) });
    else move.mutate({ moved, target });
  };
  const dragHandlers = onCheck && {
    validate: (moved: Child, target: DepartmentTarget) => validateMove(tree, moved, target),
    onDrop: moveUnlessBusy,
    onHover: (node: Child) => void tree.expand(node.deptId),
    getLabel: (moved: Child, target: DepartmentTarget | undefined) => {
      if (!target) return moved.deptName;
      const describe = { into: t.dropInto, before: t.dropBefore, after: t.dropAfter }[target.position];
      return describe(moved.deptName, target.node.deptName);
    },
  };
  const handleKeyDown = (event: KeyboardEvent, node: Child): boolean => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (onCheck && (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey))) {
      const active = event.currentTarget.getAttribute('aria-activedescendant');
      const row = active && document.getElementById(active);
      if (row) setMenu({ node, rect: row.getBoundingClientRect() });
      return true;
    }
    if (!onCheck || !event.altKey || !step) return onNodeKeyDown(event, node);
    const siblings = tree.state.get().childLists.get(node.parentId)?.rows ?? [];
    const index = siblings.findIndex(({ deptId }) => deptId === node.deptId);
    const sibling = siblings[index + step];
    const target: DepartmentTarget | undefined = sibling && {
      node: sibling,
      position: step > 0 ? 'after' : 'before',
    };
    const error = index < 0 ? t.loadPrecedingFirst : target && validateMove(tree, node, target);
    if (error) void message.info(error);
    else if (target) moveUnlessBusy(node, target);
    return true;
  };
  const rowButtons = useMemo<TreeRowButton<Child>[]>(
    () => [
      {
        key: 'add',
        icon: <PlusOutlined />,
        getLabel: ({ status }, name) => (status === '0' ? t.addBelow(name) : undefined),
      },
      { key: 'menu', icon: <EllipsisOutlined />, getLabel: (_, name) => t.actionsOf(name) },
    ],
    [t],
  );
  const openAndFocusTree = (id: number) => {
    onOpen(id);
    requestAnimationFrame(() => document.getElementById(treeId)?.focus());
  };
  const count = checked?.size ?? 0;
  const isEmpty = isEmptyTree(useStore(tree.state));
  return (
    <section className="departments-panel" aria-label={t.tree} aria-busy={move.isPending}>
      <DepartmentSearch onSelect={openAndFocusTree} onSearch={onSearch}>
        <div className="departments-toolbar">
          {checked ? (
            <>
              <span role="status">{t.selected(count)}</span>
              <Tooltip title={count > MAX_DELETED ? t.tooManySelected : undefined}>
                <Button
                  danger
                  size="small"
                  icon={<DeleteOutlined />}
                  disabled={count === 0 || count > MAX_DELETED}
                  onClick={() => onDelete([...checked.values()])}
                >
                  {t.deleteSelected}
                </Button>
              </Tooltip>
              <Button size="small" type="text" icon={<CloseOutlined />} onClick={() => setChecked(undefined)}>
                {t.endSelect}
              </Button>
            </>
          ) : (
            <>
              {onCheck && (
                <Button size="small" type="text" icon={<CheckSquareOutlined />} onClick={() => setChecked(new Map())}>
                  {t.select}
                </Button>
              )}
              <Button
                size="small"
                type="text"
                icon={<ReloadOutlined />}
                onClick={() => void reloadAll(tree).then(() => onRefresh())}
              >
                {t.refresh}
              </Button>
              <Tooltip title={onCheck ? t.keys : t.keysForMembers} trigger={['hover', 'focus', 'click']}>
                <Button size="small" type="text" icon={<QuestionCircleOutlined />} aria-label={t.keysLabel} />
              </Tooltip>
            </>
          )}
        </div>
        {isEmpty ? (
          <Empty text={onCheck ? t.noneForAdministrators : t.none}>
            {onCheck && (
              <Button type="primary" icon={<PlusOutlined />} onClick={onCreate}>
                {t.create}
              </Button>
            )}
          </Empty>
        ) : (
          <DepartmentTree
            tree={tree}
            id={treeId}
            label={t.tree}
            selectedId={selectedId}
            onOpen={({ deptId }) => onOpen(deptId)}
            checkedIds={checked && new Set(checked.keys())}
            onCheck={onCheck}
            onNodeKeyDown={handleKeyDown}
            dragHandlers={dragHandlers}
            rowButtons={onCheck && rowButtons}
            onRowButton={(key, node, element) =>
              key === 'add' ? actions.onCreateChild(node) : setMenu({ node, rect: element.getBoundingClientRect() })
            }
          />
        )}
      </DepartmentSearch>
      <RowMenu menu={menu} actions={actions} onClose={() => setMenu(undefined)} treeId={treeId} />
    </section>
  );
}
