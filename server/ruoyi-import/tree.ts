import type { Findings } from './findings.ts';
import type { Row } from './source.ts';

/** A department that is imported, with its parent after repairs; null: top level. */
export interface Placed {
  row: Row<'sys_dept'>;
  id: string;
  parent: string | null;
}

/** Compares ids by their value: they have different lengths, and are too large for numbers. */
export const compareIds = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

/**
 * Repairs the tree of one tenant. Returns its existing departments, parents before their children, siblings by id. The result
 * depends only on the rows and not on their order, so that a second run finds the same tree.
 */
export function repairTree(
  tenant: string,
  rows: readonly Row<'sys_dept'>[],
  findings: Findings,
  maxLevels: number,
): Placed[] {
  const all = new Map(rows.map((row) => [String(row.dept_id), row]));
  const existing = [...all.values()].filter((row) => row.del_flag === '0');
  const parents = new Map<string, string | null>();
  for (const row of existing) {
    const id = String(row.dept_id);
    parents.set(id, findParent(tenant, id, all, findings));
  }
  breakCycles(tenant, parents, findings);
  const ordered = inTreeOrder(parents);
  limitDepth(tenant, ordered, parents, findings, maxLevels);
  for (const id of ordered) {
    const stored = (all.get(id) as Row<'sys_dept'>).ancestors?.replaceAll(' ', '') ?? '';
    if (stored !== pathOf(id, parents)) findings.add('ancestors', tenant, `department ${id}`, stored);
  }
  return inTreeOrder(parents).map((id) => ({ row: all.get(id) as never, id, parent: parents.get(id) ?? null }));
}

const isTop = (parent: string | null): boolean => parent === null || parent === '' || parent === '0';

/** Returns the nearest ancestor that is not deleted; null: the top level. */
function findParent(
  tenant: string,
  id: string,
  all: ReadonlyMap<string, Row<'sys_dept'>>,
  findings: Findings,
): string | null {
  const visited = new Set([id]);
  let parent = (all.get(id) as Row<'sys_dept'>).parent_id;
  let passedDeleted = false;
  while (parent !== null && !isTop(parent)) {
    const row = all.get(parent);
    if (!row) {
      findings.add('orphan', tenant, `department ${id}`, `parent ${parent}`);
      return null;
    }
    if (row.del_flag === '0') break;
    passedDeleted = true;
    // Deleted departments may form a cycle too.
    if (visited.has(parent)) {
      parent = null;
      break;
    }
    visited.add(parent);
    parent = row.parent_id;
  }
  const found = isTop(parent) ? null : parent;
  // The climb ended at the department itself: its deleted parents were in a cycle with it.
  const result = passedDeleted && found === id ? null : found;
  if (passedDeleted)
    findings.add('deletedParent', tenant, `department ${id}`, `now below ${result ?? 'the top level'}`);
  return result;
}

function breakCycles(tenant: string, parents: Map<string, string | null>, findings: Findings): void {
  const done = new Set<string>();
  for (const start of parents.keys()) {
    const trail = new Set<string>();
    let id: string | null | undefined = start;
    while (id != null && !done.has(id) && !trail.has(id)) {
      trail.add(id);
      id = parents.get(id);
    }
    if (id != null && trail.has(id)) {
      const path = [...trail];
      const cycle = path.slice(path.indexOf(id));
      const lowest = [...cycle].sort(compareIds)[0] as string;
      findings.add('cycle', tenant, `department ${lowest}`, cycle.join(' → '));
      parents.set(lowest, null);
    }
    for (const each of trail) done.add(each);
  }
}

/** Lists departments depth-first: a part of the list then has few parents outside of it. */
function inTreeOrder(parents: ReadonlyMap<string, string | null>): string[] {
  const children = new Map<string | null, string[]>();
  for (const [id, parent] of parents) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(id);
    else children.set(parent, [id]);
  }
  for (const siblings of children.values()) siblings.sort((a, b) => compareIds(b, a));
  const ordered: string[] = [];
  const stack = children.get(null) ?? [];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    ordered.push(id);
    for (const child of children.get(id) ?? []) stack.push(child);
  }
  return ordered;
}

function limitDepth(
  tenant: string,
  ordered: readonly string[],
  parents: Map<string, string | null>,
  findings: Findings,
  maxLevels: number,
): void {
  const levels = new Map<string, number>();
  for (const id of ordered) {
    let parent = parents.get(id) ?? null;
    if (parent !== null && (levels.get(parent) as number) >= maxLevels) {
      parent = parents.get(parent) ?? null;
      parents.set(id, parent);
      findings.add('tooDeep', tenant, `department ${id}`, `now below ${parent ?? 'the top level'}`);
    }
    levels.set(id, parent === null ? 1 : (levels.get(parent) as number) + 1);
  }
}

/** The path that `ancestors` should have: from 0 down to the parent. */
function pathOf(id: string, parents: ReadonlyMap<string, string | null>): string {
  const path: string[] = [];
  for (let parent = parents.get(id) ?? null; parent !== null; parent = parents.get(parent) ?? null) path.push(parent);
  return ['0', ...path.reverse()].join(',');
}
