import { api, type Child, type Dept } from '../api.ts';
import { queries } from '../queries.ts';
import { type Store, store } from '../store.ts';

/**
 * The departments that were looked at so far: of each opened one its children, page by page. Not in the query cache,
 * because one list of rows is made of hundreds of them, and pages of a branch follow each other by cursor.
 */
export interface Branch {
  rows: Child[];
  /** Cursor of what was not read yet; null when all is here. */
  next: string | null;
  /** Further down than what was read, and shown nevertheless because somebody wants to see them. */
  aside: Child[];
  state: 'loading' | 'ready' | 'failed';
  error?: unknown;
}

export interface TreeState {
  branches: ReadonlyMap<number, Branch>;
  open: ReadonlySet<number>;
}

export const TOP = 0;
const PAGE = 200;
const LARGEST_PAGE = 500;

export interface TreeStore {
  state: Store<TreeState>;
  node(id: number): Child | undefined;
  /** As far as it is known, the nearest first. */
  above(id: number): number[];
  /** Whether it is that department, or somewhere below it. */
  isWithin(id: number, branch: number): boolean;
  expand(id: number): Promise<void>;
  collapse(id: number): void;
  /** The next page of a branch; all of it again when that failed. */
  more(id: number): Promise<void>;
  /** Reads a branch again, as far as it was read, after its departments changed. */
  reload(...ids: number[]): Promise<void>;
  /** What is closed is read anew when it is opened. */
  forgetClosed(): void;
  /** Opens the way down to a department, however far down its siblings it is. */
  reveal(id: number): Promise<void>;
}

const fresh = <T>(queryKey: unknown[], queryFn: (context: { signal: AbortSignal }) => Promise<T>) =>
  queries.fetchQuery({ queryKey, queryFn, staleTime: 0, gcTime: 0 });

export const readChildren = (id: number, cursor: string | undefined, limit: number) =>
  fresh(['dept-children', id, 'page', cursor ?? '', limit], ({ signal }) =>
    api.listChildren(id, { limit, ...(cursor ? { cursor } : {}) }, signal),
  );

export function makeTree(): TreeStore {
  const state = store<TreeState>({ branches: new Map(), open: new Set() });
  const nodes = new Map<number, Child>();
  /** Which read of a branch is the newest: what an older one brings is dropped. */
  const turns = new Map<number, number>();

  const branch = (id: number) => state.get().branches.get(id);
  const put = (id: number, value: Branch) => {
    const branches = new Map(state.get().branches).set(id, value);
    state.set({ ...state.get(), branches });
  };
  const setOpen = (id: number, isOpen: boolean) => {
    const open = new Set(state.get().open);
    if (isOpen) open.add(id);
    else open.delete(id);
    state.set({ ...state.get(), open });
  };

  /** Reads until so many are there, or all: on from a cursor, else from the beginning. */
  async function load(id: number, wanted: number, cursor?: string): Promise<void> {
    const turn = (turns.get(id) ?? 0) + 1;
    turns.set(id, turn);
    const isOld = () => turns.get(id) !== turn;
    put(id, { ...(branch(id) ?? { rows: [], next: null, aside: [] }), state: 'loading' });
    const before = () => (cursor ? (branch(id)?.rows ?? []) : []);
    const read = new Map<number, Child>();
    /** As they are now; null for who is not here any more. */
    const readAside = new Map<number, Child | null>();
    let next: string | null | undefined = cursor;
    try {
      do {
        const limit = Math.min(Math.max(wanted - before().length - read.size, PAGE), LARGEST_PAGE);
        const { data } = await readChildren(id, next, limit);
        if (isOld()) return;
        for (const row of data.rows) read.set(row.deptId, row);
        next = data.next;
      } while (next !== null && before().length + read.size < wanted);
      for (const { deptId } of branch(id)?.aside ?? [])
        if (next !== null && !read.has(deptId)) readAside.set(deptId, null);
      for (const node of await asChildren([...readAside.keys()], (child) => nodes.get(child)?.hasChildren ?? false))
        if (node.parentId === id) readAside.set(node.deptId, node);
      if (isOld()) return;
    } catch (error) {
      if (!isOld()) put(id, { ...(branch(id) as Branch), state: 'failed', error });
      return;
    }
    const rows = [...before().filter(({ deptId }) => !read.has(deptId)), ...read.values()];
    const here = new Set(rows.map(({ deptId }) => deptId));
    // Who was set aside only while this was read is as new as this.
    const aside = (branch(id)?.aside ?? [])
      .filter(({ deptId }) => next !== null && !here.has(deptId))
      .flatMap((node) => (readAside.has(node.deptId) ? (readAside.get(node.deptId) ?? []) : node))
      .sort(byOrder);
    settle([...read.values(), ...aside]);
    put(id, { rows, next, aside, state: 'ready' });
    noteChildren(id, rows.length > 0);
  }

  /** These are where they say: wherever else they were shown, they are no more. */
  function settle(here: Child[]): void {
    const left = new Map<number, Set<number>>();
    for (const node of here) {
      const { deptId, parentId } = nodes.get(node.deptId) ?? node;
      if (parentId !== node.parentId) left.set(parentId, (left.get(parentId) ?? new Set()).add(deptId));
      nodes.set(deptId, node);
    }
    for (const [id, gone] of left) {
      const home = branch(id);
      const stays = ({ deptId }: Child) => !gone.has(deptId);
      if (home) put(id, { ...home, rows: home.rows.filter(stays), aside: home.aside.filter(stays) });
    }
  }

  function noteChildren(id: number, hasChildren: boolean): void {
    const node = nodes.get(id);
    if (!node || node.hasChildren === hasChildren) return;
    const changed = { ...node, hasChildren };
    nodes.set(id, changed);
    const home = branch(node.parentId);
    const swap = (row: Child) => (row.deptId === id ? changed : row);
    if (home) put(node.parentId, { ...home, rows: home.rows.map(swap), aside: home.aside.map(swap) });
    if (!hasChildren) setOpen(id, false);
  }

  const ensure = (id: number) => (branch(id)?.state === 'ready' ? undefined : load(id, PAGE));

  /** From the beginning, as far as it was read before. */
  const again = (id: number) => load(id, Math.max(branch(id)?.rows.length ?? 0, PAGE));

  /** Beside what was read, in the place that it has now and in no other. */
  function setAside(node: Child): void {
    settle([node]);
    const home = branch(node.parentId);
    const isOther = ({ deptId }: Child) => deptId !== node.deptId;
    // It may have come meanwhile.
    if (home?.rows.every(isOther))
      put(node.parentId, { ...home, aside: [...home.aside.filter(isOther), node].sort(byOrder) });
  }

  function above(id: number): number[] {
    // Read at different moments, two may each say that they are below the other.
    const passed = new Set([id]);
    for (let up = nodes.get(id)?.parentId ?? TOP; up !== TOP && !passed.has(up); up = nodes.get(up)?.parentId ?? TOP)
      passed.add(up);
    return [...passed].slice(1);
  }

  return {
    state,
    node: (id) => nodes.get(id),
    above,
    isWithin: (id, branch) => id === branch || above(id).includes(branch),
    async expand(id) {
      setOpen(id, true);
      await ensure(id);
    },
    collapse: (id) => setOpen(id, false),
    async more(id) {
      const now = branch(id);
      if (!now || now.state === 'loading') return;
      if (now.state === 'failed') return again(id);
      await load(id, now.rows.length + PAGE, now.next ?? undefined);
    },
    async reload(...ids) {
      await Promise.all([...new Set(ids)].map(again));
    },
    forgetClosed() {
      const { branches, open } = state.get();
      const isKept = (id: number, { state }: Branch) => id === TOP || open.has(id) || state === 'loading';
      state.set({ open, branches: new Map([...branches].filter(([id, branch]) => isKept(id, branch))) });
    },
    async reveal(id) {
      const { data: dept } = await queries.fetchQuery({ ...readingDepartment(id), staleTime: 0 });
      const above = dept.ancestors.split(',').map(Number).filter(Boolean);
      await Promise.all([TOP, ...above].map(ensure));
      const shown = (child: number, parent: number) =>
        [...(branch(parent)?.rows ?? []), ...(branch(parent)?.aside ?? [])].some(({ deptId }) => deptId === child);
      const path = [...above, id];
      const hidden = path.filter((child, depth) => !shown(child, path[depth - 1] ?? TOP));
      for (const node of await asChildren(hidden, (child) => child !== id)) setAside(node);
      state.set({ ...state.get(), open: new Set([...state.get().open, ...above]) });
      // Closed until now, they may have been forgotten meanwhile.
      await Promise.all(above.map(ensure));
    },
  };
}

/** The same read as the screen's: asked once for both. */
export const readingDepartment = (id: number) => ({
  queryKey: ['dept', id],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.readDepartment(id, signal),
});

const byOrder = (a: Child, b: Child) => a.orderNum - b.orderNum || a.deptId - b.deptId;

/** A read does not tell whether there are children: unless it is known that there are, each is asked. */
async function asChildren(ids: number[], isParent: (id: number) => boolean): Promise<Child[]> {
  const found: Dept[] = [];
  for (let start = 0; start < ids.length; start += LARGEST_PAGE) {
    const some = ids.slice(start, start + LARGEST_PAGE);
    const { data } = await fresh(['dept', 'several', some], ({ signal }) => api.readDepartments(some, signal));
    found.push(...data.rows);
  }
  const hasChildren = async (id: number) => isParent(id) || (await readChildren(id, undefined, 1)).data.rows.length > 0;
  return Promise.all(found.map(async (dept) => ({ ...dept, hasChildren: await hasChildren(dept.deptId) })));
}
