import { PlusOutlined } from '@ant-design/icons';
import { useQueryClient } from '@tanstack/react-query';
import { Button } from 'antd';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useNavigate, useParams, useSearchParams } from 'react-router';
import { api, type Child, type Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import type { Versioned } from '../request.ts';
import { useIsAdministrator } from '../session.ts';
import { useStore } from '../store.ts';
import {
  createTreeStore,
  departmentQuery,
  isEmptyTree,
  ROOT_ID,
  reloadAll,
  type TreeStore,
} from '../ui/department/tree-store.ts';
import { useHasDraft } from '../ui/draft.tsx';
import { ListActions } from '../ui/list-actions.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty } from '../ui/states.tsx';
import { useIsMounted } from '../ui/use-is-mounted.ts';
import { useNotify } from '../ui/use-notify.ts';
import { CreateDialog } from './create-dialog.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { DepartmentDetail } from './department-detail.tsx';
import { MoveDialog } from './move-dialog.tsx';
import { departmentsTexts } from './texts.ts';
import { TreePanel } from './tree-panel.tsx';
import { useDialog } from './use-dialog.ts';
import { useTreeReloads } from './use-tree-reloads.ts';
import './departments.css';

const TREE_ID = 'departments-tree';

export default function Departments() {
  const t = useTexts(departmentsTexts);
  const { id: idParam } = useParams();
  const id = idParam && /^\d{1,16}$/.test(idParam) ? Number(idParam) : undefined;
  const administrator = useIsAdministrator();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const isMounted = useIsMounted();
  const [tree] = useState(createTreeStore);
  const [checked, setChecked] = useState<ReadonlyMap<number, Dept>>();
  const [keyword, setKeyword] = useState('');
  const editing = useEditing(id);
  const createDialog = useDialog<{ deptId: number; deptName: string }>();
  const moveDialog = useDialog<Dept>();
  const deleteDialog = useDialog<Dept[]>();
  const createRoot = () => createDialog.show({ deptId: ROOT_ID, deptName: '' });

  useEffect(() => {
    // The detail pane shows the error if the department cannot be read.
    if (id !== undefined) void tree.reveal(id).catch(() => undefined);
  }, [tree, id]);

  // `?create=1` opens the form for a new department. The global search links to it.
  const [params, setParams] = useSearchParams();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a navigation opens the form
  useEffect(() => {
    if (!params.has('create')) return;
    setParams({}, { replace: true });
    if (administrator) createRoot();
  }, [params]);

  const open = (deptId: number | undefined) => navigate(deptId ? `/departments/${deptId}` : '/departments');
  const focusTree = () => document.getElementById(TREE_ID)?.focus();
  const refresh = async (...parentIds: number[]) => {
    const { expanded } = tree.state.get();
    // Do not expand what the user has collapsed. A department without children is not expanded, but was not collapsed either.
    const isOpen = (ancestor: number) => expanded.has(ancestor) || !tree.getNode(ancestor)?.hasChildren;
    const wasShown = id !== undefined && tree.getAncestors(id).every(isOpen);
    await tree.reload(...parentIds);
    if (wasShown) await tree.reveal(id).catch(() => undefined);
  };
  useTreeReloads(tree, refresh);
  const toggleChecked = (node: Child) =>
    setChecked((previous) => {
      const next = new Map(previous);
      if (!next.delete(node.deptId)) next.set(node.deptId, node);
      return next;
    });
  const openForEditing = async (node: Child) => {
    open(node.deptId);
    await queryClient
      .fetchQuery({ ...departmentQuery(node.deptId), staleTime: 0 })
      .then(editing.start)
      .catch(notify.error);
  };
  const handleNodeKeyDown = (event: KeyboardEvent, node: Child): boolean => {
    if (!administrator || event.altKey || event.ctrlKey) return false;
    if (event.key === 'Insert' && node.status === '0') createDialog.show(node);
    else if (event.key === 'F2') void openForEditing(node);
    else if (event.key === 'Delete') deleteDialog.show(checked?.size ? [...checked.values()] : [node]);
    else return false;
    return true;
  };
  const handleCreated = (newId: number, parentId: number, addAnother: boolean) => {
    const { pathname } = window.location;
    // Do not open the new department if the user has opened something else in the meantime.
    const isSameScreen = () => isMounted() && window.location.pathname === pathname;
    void tree
      .reload(parentId)
      .then(() => tree.expand(parentId))
      .then(() => addAnother || (isSameScreen() && open(newId)));
  };
  const handleDeleted = (depts: Dept[]) => {
    const deletedIds = new Set(depts.map(({ deptId }) => deptId));
    setChecked((previous) => previous && new Map([...previous].filter(([id]) => !deletedIds.has(id))));
    const deletedAncestor = depts.find(({ deptId }) => id !== undefined && tree.isWithin(id, deptId));
    if (deletedAncestor) open(deletedAncestor.parentId || undefined);
    void refresh(...depts.map(({ parentId }) => parentId)).then(focusTree);
  };
  return (
    <div className={`departments${id === undefined ? '' : ' has-department'}`}>
      <PageTitle title={t.title}>
        {administrator && (
          <ListActions
            kind="department"
            exportFile={(format) => api.exportDepartments({ ...(keyword ? { deptName: keyword } : {}), format })}
            importPath="/import/departments"
          >
            <Button icon={<PlusOutlined />} onClick={createRoot}>
              {t.create}
            </Button>
          </ListActions>
        )}
      </PageTitle>
      <div className="departments-split">
        <TreePanel
          tree={tree}
          treeId={TREE_ID}
          selectedId={id}
          onOpen={(deptId) => open(deptId)}
          checked={checked}
          setChecked={setChecked}
          onCheck={administrator ? toggleChecked : undefined}
          onNodeKeyDown={handleNodeKeyDown}
          onDelete={deleteDialog.show}
          onRefresh={refresh}
          onSearch={setKeyword}
          onCreate={createRoot}
          actions={{
            onOpen: ({ deptId }) => open(deptId),
            onCreateChild: createDialog.show,
            onEdit: (node) => void openForEditing(node),
            onMove: moveDialog.show,
            onDelete: deleteDialog.show,
          }}
        />
        <div className="departments-detail">
          {id !== undefined ? (
            <DepartmentDetail
              id={id}
              tree={tree}
              editing={editing.original}
              onEdit={editing.start}
              onEditEnd={editing.end}
              onSaved={({ parentId }) => void refresh(parentId)}
              onMembersChanged={() => void reloadAll(tree)}
              onCreateChild={createDialog.show}
              onMove={moveDialog.show}
              onDelete={deleteDialog.show}
            />
          ) : (
            <ChooseDepartment tree={tree} />
          )}
        </div>
      </div>
      {createDialog.subject && (
        <CreateDialog {...createDialog} parent={createDialog.subject} onCreated={handleCreated} />
      )}
      {moveDialog.subject && (
        <MoveDialog {...moveDialog} dept={moveDialog.subject} onMoved={(parentIds) => void refresh(...parentIds)} />
      )}
      {deleteDialog.subject && (
        <DeleteDialog
          {...deleteDialog}
          depts={deleteDialog.subject}
          onDeleted={handleDeleted}
          onShowChildren={(deptId) => navigate(`/departments/${deptId}?tab=children`)}
        />
      )}
    </div>
  );
}

/** Asks for a department. While there are none, only the tree says so. */
function ChooseDepartment({ tree }: { tree: TreeStore }) {
  const t = useTexts(departmentsTexts);
  return isEmptyTree(useStore(tree.state)) ? null : <Empty text={t.chooseDepartment} />;
}

/** The department being edited, as it was when editing started. If there is a draft, editing starts right away. */
function useEditing(id: number | undefined) {
  const [original, setOriginal] = useState<Versioned<Dept>>();
  const hasDraft = useHasDraft(`dept-${id}`);
  const queryClient = useQueryClient();
  const administrator = useIsAdministrator();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another department is opened, not on every draft
  useEffect(() => {
    if (id === undefined || !hasDraft || !administrator) return;
    void queryClient
      .fetchQuery(departmentQuery(id))
      .then(setOriginal)
      .catch(() => undefined);
  }, [id]);
  const end = () => {
    setOriginal(undefined);
    // The form had the focus. The edit button appears with the next render.
    requestAnimationFrame(() => document.getElementById('departments-edit')?.focus());
  };
  return { original: original?.data.deptId === id ? original : undefined, start: setOriginal, end };
}
