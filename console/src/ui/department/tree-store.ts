import { api, type Child, type Dept } from '../../api.ts';
import { queryClient } from '../../query-client.ts';
import { queryKeys } from '../../query-keys.ts';
import { createStore, type Store } from '../../store.ts';

/** The loaded children of one department. */
export interface ChildList {
  rows: Child[];
  /** The cursor of the next page; null if everything is loaded. */
  next: string | null;
  /** Children of later pages that are shown already, because the user opened them by a link or a search. */
  pinned: Child[];
  state: 'loading' | 'ready' | 'error';
  error?: unknown;
}

export interface TreeState {
  childLists: ReadonlyMap<number, ChildList>;
  expanded: ReadonlySet<number>;
}

export const ROOT_ID = 0;
const PAGE_SIZE = 200;
const MAX_PAGE_SIZE = 500;

export interface TreeStore {
  state: Store<TreeState>;
  getNode(id: number): Child | undefined;
  /** The loaded ancestors, nearest first. */
  getAncestors(id: number): number[];
  /** Whether a department is `subtreeId` or one of its descendants. */
  isWithin(id: number, subtreeId: number): boolean;
  expand(id: number): Promise<void>;
  collapse(id: number): void;
  /** Loads the next page of children; after an error, loads the children again. */
  loadMore(id: number): Promise<void>;
  /** Loads the same number of rows again, after children of these departments have changed. */
  reload(...ids: number[]): Promise<void>;
  /** Discards the children of collapsed departments, so that they are loaded again when these are expanded. */
  discardCollapsed(): void;
  /** Expands all ancestors of a department and shows it, on whichever page of its siblings it is. */
  reveal(id: number): Promise<void>;
}

/** Simultaneous reads with the same key share a request. */
const fetchFresh = <T>(queryKey: readonly unknown[], queryFn: (context: { signal: AbortSignal }) => Promise<T>) =>
  queryClient.fetchQuery({ queryKey, queryFn, staleTime: 0, gcTime: 0 });

/**
 * Reads a page of children with the numbers of their users. The numbers are left out with `asOf`, because the service does not
 * count the users of the past, and with the limit 1: such a read only shows whether there are children. `reload`: a unique number
 * for a read after a change, so that it does not share the response of a read that began before.
 */
export const readChildren = (id: number, cursor: string | undefined, limit: number, asOf?: string, reload = 0) =>
  fetchFresh(queryKeys.departments.childPage(id, cursor ?? '', limit, asOf, reload), ({ signal }) =>
    api.listChildren(
      id,
      { limit, ...(asOf ? { asOf } : { branchCounts: limit > 1 }), ...(cursor ? { cursor } : {}) },
      signal,
    ),
  );

const readBatch = async (ids: number[]): Promise<Dept[]> => {
  const { data } = await fetchFresh(queryKeys.departments.treeBatch(ids), ({ signal }) =>
    api.readDepartments(ids, signal),
  );
  return data.rows;
};

/** Numbers the reloads of all trees. */
let reloads = 0;

/**
 * The part of the department tree that has been loaded, page by page. It is not in the query cache: one list of rows
 * combines hundreds of lists of children, and the pages of a list depend on each other by their cursors.
 */
export function createTreeStore(asOf?: string): TreeStore {
  const state = createStore<TreeState>({ childLists: new Map(), expanded: new Set() });
  const nodes = new Map<number, Child>();
  /** The latest load of each list of children. Responses of earlier loads are ignored. */
  const latestLoads = new Map<number, number>();

  const getChildList = (id: number) => state.get().childLists.get(id);
  const setChildList = (id: number, childList: ChildList) => {
    const childLists = new Map(state.get().childLists).set(id, childList);
    state.set({ ...state.get(), childLists });
  };
  const setExpanded = (id: number, isExpanded: boolean) => {
    const expanded = new Set(state.get().expanded);
    if (isExpanded) expanded.add(id);
    else expanded.delete(id);
    state.set({ ...state.get(), expanded });
  };

  /** Loads pages until `count` rows are there: from the cursor if there is one, otherwise from the start. */
  async function load(id: number, count: number, cursor?: string, reload?: number): Promise<void> {
    const loadNumber = (latestLoads.get(id) ?? 0) + 1;
    latestLoads.set(id, loadNumber);
    const isOutdated = () => latestLoads.get(id) !== loadNumber;
    setChildList(id, { ...(getChildList(id) ?? { rows: [], next: null, pinned: [] }), state: 'loading' });
    const getPreviousRows = () => (cursor ? (getChildList(id)?.rows ?? []) : []);
    const loaded = new Map<number, Child>();
    /** The pinned departments as they are now; null for those that are no longer in this list. */
    const reloadedPins = new Map<number, Child | null>();
    let next: string | null | undefined = cursor;
    try {
      do {
        const missing = count - getPreviousRows().length - loaded.size;
        const limit = Math.min(Math.max(missing, PAGE_SIZE), MAX_PAGE_SIZE);
        const { data } = await readChildren(id, next, limit, asOf, reload);
        if (isOutdated()) return;
        for (const row of data.rows) loaded.set(row.deptId, row);
        next = data.next;
      } while (next !== null && getPreviousRows().length + loaded.size < count);
      for (const { deptId } of getChildList(id)?.pinned ?? [])
        if (next !== null && !loaded.has(deptId)) reloadedPins.set(deptId, null);
      for (const node of await readAsChildren(
        [...reloadedPins.keys()],
        (child) => nodes.get(child)?.hasChildren ?? false,
      ))
        if (node.parentId === id) reloadedPins.set(node.deptId, node);
      if (isOutdated()) return;
    } catch (error) {
      if (!isOutdated()) setChildList(id, { ...(getChildList(id) as ChildList), state: 'error', error });
      return;
    }
    const rows = [...getPreviousRows().filter(({ deptId }) => !loaded.has(deptId)), ...loaded.values()];
    const rowIds = new Set(rows.map(({ deptId }) => deptId));
    // A department that was pinned during this load is as recent as the load itself.
    const pinned = (getChildList(id)?.pinned ?? [])
      .filter(({ deptId }) => next !== null && !rowIds.has(deptId))
      .flatMap((node) => (reloadedPins.has(node.deptId) ? (reloadedPins.get(node.deptId) ?? []) : node))
      .sort(compareOrder);
    updateNodes([...loaded.values(), ...pinned]);
    setChildList(id, { rows, next, pinned, state: 'ready' });
    updateHasChildren(id, rows.length > 0);
  }

  /** Stores nodes and removes them from the lists that they have left. */
  function updateNodes(updated: Child[]): void {
    const removedChildren = new Map<number, Set<number>>();
    for (const node of updated) {
      const { deptId, parentId } = nodes.get(node.deptId) ?? node;
      if (parentId !== node.parentId)
        removedChildren.set(parentId, (removedChildren.get(parentId) ?? new Set()).add(deptId));
      nodes.set(deptId, node);
    }
    for (const [id, removedIds] of removedChildren) {
      const childList = getChildList(id);
      const stays = ({ deptId }: Child) => !removedIds.has(deptId);
      if (childList)
        setChildList(id, { ...childList, rows: childList.rows.filter(stays), pinned: childList.pinned.filter(stays) });
    }
  }

  function updateHasChildren(id: number, hasChildren: boolean): void {
    const node = nodes.get(id);
    if (!node || node.hasChildren === hasChildren) return;
    const updated = { ...node, hasChildren };
    nodes.set(id, updated);
    const childList = getChildList(node.parentId);
    const replace = (row: Child) => (row.deptId === id ? updated : row);
    if (childList)
      setChildList(node.parentId, {
        ...childList,
        rows: childList.rows.map(replace),
        pinned: childList.pinned.map(replace),
      });
    if (!hasChildren) setExpanded(id, false);
  }

  const loadIfMissing = (id: number) => (getChildList(id)?.state === 'ready' ? undefined : load(id, PAGE_SIZE));

  const loadAgain = (id: number) =>
    load(id, Math.max(getChildList(id)?.rows.length ?? 0, PAGE_SIZE), undefined, ++reloads);

  function pin(node: Child): void {
    updateNodes([node]);
    const childList = getChildList(node.parentId);
    const isOther = ({ deptId }: Child) => deptId !== node.deptId;
    // It may have been loaded with its page in the meantime.
    if (childList?.rows.every(isOther))
      setChildList(node.parentId, {
        ...childList,
        pinned: [...childList.pinned.filter(isOther), node].sort(compareOrder),
      });
  }

  function getAncestors(id: number): number[] {
    const getParent = (id: number) => nodes.get(id)?.parentId ?? ROOT_ID;
    // Nodes that were loaded at different times can form a cycle, so stop at one that was visited.
    const visited = new Set([id]);
    for (let ancestor = getParent(id); ancestor !== ROOT_ID && !visited.has(ancestor); ancestor = getParent(ancestor))
      visited.add(ancestor);
    return [...visited].slice(1);
  }

  return {
    state,
    getNode: (id) => nodes.get(id),
    getAncestors,
    isWithin: (id, subtreeId) => id === subtreeId || getAncestors(id).includes(subtreeId),
    async expand(id) {
      setExpanded(id, true);
      await loadIfMissing(id);
    },
    collapse: (id) => setExpanded(id, false),
    async loadMore(id) {
      const childList = getChildList(id);
      if (!childList || childList.state === 'loading') return;
      if (childList.state === 'error') return loadAgain(id);
      await load(id, childList.rows.length + PAGE_SIZE, childList.next ?? undefined);
    },
    async reload(...ids) {
      await Promise.all([...new Set(ids)].map(loadAgain));
    },
    discardCollapsed() {
      const { childLists, expanded } = state.get();
      const isKept = (id: number, { state }: ChildList) => id === ROOT_ID || expanded.has(id) || state === 'loading';
      state.set({ expanded, childLists: new Map([...childLists].filter(([id, childList]) => isKept(id, childList))) });
    },
    async reveal(id) {
      const { data: dept } = await queryClient.fetchQuery({ ...departmentQuery(id), staleTime: 0 });
      const ancestors = dept.ancestors.split(',').map(Number).filter(Boolean);
      await Promise.all([ROOT_ID, ...ancestors].map(loadIfMissing));
      const isShown = (child: number, parent: number) =>
        [...(getChildList(parent)?.rows ?? []), ...(getChildList(parent)?.pinned ?? [])].some(
          ({ deptId }) => deptId === child,
        );
      const path = [...ancestors, id];
      const hidden = path.filter((child, depth) => !isShown(child, path[depth - 1] ?? ROOT_ID));
      for (const node of await readAsChildren(hidden, (child) => child !== id)) pin(node);
      state.set({ ...state.get(), expanded: new Set([...state.get().expanded, ...ancestors]) });
      // They were collapsed until now, so discardCollapsed may have removed them in the meantime.
      await Promise.all(ancestors.map(loadIfMissing));
    },
  };
}

/** Reloads everything that the tree shows, after departments or their members have changed. */
export const reloadAll = (tree: TreeStore): Promise<void> => tree.reload(...keepExpanded(tree));

/** Discards the children of collapsed departments. Returns the departments whose children remain. */
export function keepExpanded(tree: TreeStore): number[] {
  tree.discardCollapsed();
  return [ROOT_ID, ...[...tree.state.get().expanded].filter((id) => tree.getNode(id))];
}

/**
 * Returns the loaded lists of children in which changes of departments show: those of the departments, and those of all their
 * ancestors, whose rows count the users below them. If the ancestors cannot be read with one request, discards the lists of
 * collapsed departments and returns all others.
 */
export async function findAffected(tree: TreeStore, departments: ReadonlySet<number>): Promise<number[]> {
  const listed = new Set([ROOT_ID]);
  for (const { rows, pinned } of tree.state.get().childLists.values())
    for (const { deptId } of [...rows, ...pinned]) listed.add(deptId);
  const affected = new Set([ROOT_ID]);
  const unknown: number[] = [];
  for (const id of departments) {
    const path = [id, ...tree.getAncestors(id)];
    for (const each of path) affected.add(each);
    if (!path.every((each) => listed.has(each))) unknown.push(id);
  }
  if (unknown.length > MAX_PAGE_SIZE) return keepExpanded(tree);
  try {
    // Deleted departments are not found. The change of the topmost one names its parent, which is found.
    for (const { ancestors } of unknown.length > 0 ? await readBatch(unknown) : [])
      for (const id of ancestors.split(',')) affected.add(Number(id));
  } catch {
    return keepExpanded(tree);
  }
  const { childLists } = tree.state.get();
  return [...affected].filter((id) => childLists.has(id));
}

/** Whether the tree has been loaded and has no departments. */
export function isEmptyTree({ childLists }: TreeState): boolean {
  const root = childLists.get(ROOT_ID);
  return root?.state === 'ready' && root.rows.length === 0;
}

/** The query of the detail screen. The tree uses it too, so that both share one request. */
export const departmentQuery = (id: number) => ({
  queryKey: queryKeys.departments.detail(id),
  queryFn: ({ signal }: { signal: AbortSignal }) => api.readDepartment(id, signal),
});

const compareOrder = (a: Child, b: Child) => a.orderNum - b.orderNum || a.deptId - b.deptId;

/**
 * Reads departments as rows of the tree. The read does not return `hasChildren`, so it is queried where it is
 * unknown.
 */
async function readAsChildren(ids: number[], isKnownParent: (id: number) => boolean): Promise<Child[]> {
  const found: Dept[] = [];
  for (let start = 0; start < ids.length; start += MAX_PAGE_SIZE)
    found.push(...(await readBatch(ids.slice(start, start + MAX_PAGE_SIZE))));
  const hasChildren = async (id: number) =>
    isKnownParent(id) || (await readChildren(id, undefined, 1)).data.rows.length > 0;
  return Promise.all(found.map(async (dept) => ({ ...dept, hasChildren: await hasChildren(dept.deptId) })));
}
