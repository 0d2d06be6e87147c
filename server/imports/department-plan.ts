import type { Tx } from '../../db/driver.ts';
import { type PathNode, showPath } from '../departments/paths.ts';
import {
  type DepartmentChanges,
  findDepartmentsByExternalId,
  type ParentRef,
  readParents,
  readStoredDepartments,
  readSubtreeHeights,
  type StoredDepartment,
} from '../departments/reconcile.ts';
import { type DepartmentValues, department } from '../departments/record.ts';
import { apiError } from '../http/errors.ts';
import { createSlices, mapInSlices, sortInSlices } from '../http/slices.ts';
import { cleanName } from '../spreadsheets/text.ts';
import { type DepartmentRowInput, readDepartmentRows } from './department-rows.ts';
import { headersOf, ImportErrors } from './errors.ts';
import type { Plan, RowOutcome } from './plan.ts';
import type { Table } from './table.ts';

/**
 * A department in the tree after the import: the index of a row, or the id of a stored one that no row names. Where a `Ref` may
 * be null, null is the top level.
 */
type Ref = number | string;

interface DepartmentPlan extends Plan {
  changes: DepartmentChanges;
  /** The stored departments that must not change until the plan is carried out. */
  lockIds: string[];
}

/** Compares the rows of a file with the departments that are stored. */
export async function planDepartments(
  tx: Tx,
  tenantId: string,
  table: Table,
  { maxLevels }: { maxLevels: number },
): Promise<DepartmentPlan> {
  const errors = new ImportErrors();
  const { rows, paths } = await readDepartmentRows(table, errors, maxLevels);
  await paths.resolve(tx, tenantId);
  const matching = await matchRows(tx, tenantId, { table, rows, errors });
  const places = await placeRows(tx, tenantId, { table, rows, errors, maxLevels, ...matching });
  return { ...places, errors };
}

interface Rows {
  table: Table;
  rows: readonly DepartmentRowInput[];
  errors: ImportErrors;
}

interface Matching {
  /** By the index of the row; undefined: the department is new. */
  stored: (StoredDepartment | undefined)[];
  /** The rows by the ids of their stored departments. */
  rowOf: Map<string, number>;
  rowOfPlace: Map<PathNode, number>;
  rowOfExternalId: Map<string, number>;
  deptOfExternalId: Map<string, string>;
}

const keyOf = (source: string, externalId: string) => JSON.stringify([source, externalId]);

/** Finds the stored department of each row: by its external id, otherwise by its path. */
async function matchRows(tx: Tx, tenantId: string, { table, rows, errors }: Rows): Promise<Matching> {
  const rowNumber = (n: number) => table.rows[n]?.row as number;
  const repeats = (n: number, key: string, first: number) =>
    errors.add(n, key, apiError('ROW_REPEATED', { row: rowNumber(first) }));
  const deptOfExternalId = await findExternalIds(tx, tenantId, rows);
  const [rowOf, rowOfPlace, rowOfExternalId] = [
    new Map<string, number>(),
    new Map<PathNode, number>(),
    new Map<string, number>(),
  ];
  const ids: (string | undefined)[] = [];
  const pause = createSlices();
  for (const [n, { place, source, externalId }] of rows.entries()) {
    await pause();
    if (source !== undefined && externalId !== undefined) {
      const key = keyOf(source, externalId);
      const first = rowOfExternalId.get(key);
      if (first !== undefined) repeats(n, 'externalId', first);
      else rowOfExternalId.set(key, n);
      const deptId = deptOfExternalId.get(key);
      if (deptId !== undefined && first === undefined) {
        ids[n] = deptId;
        rowOf.set(deptId, n);
      }
    }
    const first = place && rowOfPlace.get(place);
    if (first !== undefined && !errors.has(n)) repeats(n, 'path', first);
    else if (place && first === undefined) rowOfPlace.set(place, n);
  }
  for (const [n, { place }] of rows.entries()) {
    await pause();
    if (!place || ids[n] !== undefined || rowOfPlace.get(place) !== n) continue;
    const candidates = stayingAt(place, { rows, rowOf }).filter((id) => id !== null);
    const [deptId] = candidates;
    const other = deptId === undefined ? undefined : rowOf.get(deptId);
    if (candidates.length > 1) errors.add(n, 'path', apiError('DEPT_PATH_AMBIGUOUS', { path: showPath(place.names) }));
    else if (other !== undefined) repeats(n, 'path', other);
    else if (deptId !== undefined) {
      ids[n] = deptId;
      rowOf.set(deptId, n);
    }
  }
  const found = await readStoredDepartments(tx, tenantId, [...rowOf.keys()]);
  const stored = ids.map((id) => (id === undefined ? undefined : found.get(id)));
  for (const [n, { source, externalId }] of rows.entries()) {
    const dept = stored[n];
    if (!dept || externalId === undefined || dept.externalId === null || dept.source === null) continue;
    if (dept.source === source && dept.externalId === externalId) continue;
    errors.add(n, 'externalId', apiError('EXTERNAL_ID_DIFFERS', { source: dept.source, externalId: dept.externalId }));
  }
  return { stored, rowOf, rowOfPlace, rowOfExternalId, deptOfExternalId };
}

/**
 * Returns the departments at a place, except those that a row names by their external id and moves to another path: the place
 * becomes free.
 */
function stayingAt({ deptIds }: PathNode, { rows, rowOf }: Pick<Rows & Matching, 'rows' | 'rowOf'>) {
  return deptIds.filter((id) => {
    const row = id === null ? undefined : rowOf.get(id);
    return row === undefined || rows[row]?.place === undefined;
  });
}

/** Finds the departments of all external ids in the file, those of parents included. */
async function findExternalIds(tx: Tx, tenantId: string, rows: readonly DepartmentRowInput[]) {
  const pause = createSlices();
  const wanted = new Map<string, { source: string; externalId: string }>();
  for (const { source, externalId, parentExternalId } of rows) {
    await pause();
    for (const id of [externalId, parentExternalId]) {
      if (source !== undefined && id !== undefined) wanted.set(keyOf(source, id), { source, externalId: id });
    }
  }
  const keys = [...wanted.keys()];
  const listed = [...wanted.values()].map((id, index) => ({ index, ...id }));
  const found = await findDepartmentsByExternalId(tx, tenantId, listed);
  return new Map(found.map(({ index, id }) => [keys[index] as string, String(id)]));
}

/** Finds the parent and the values of each row, and checks the rules for the tree after the import. */
async function placeRows(tx: Tx, tenantId: string, input: Rows & Matching & { maxLevels: number }) {
  const { table, rows, errors, stored, rowOf, maxLevels } = input;
  const headerOf = headersOf(table);
  const pause = createSlices();
  const refOf = (id: string | null): Ref | null => (id === null ? null : (rowOf.get(id) ?? id));
  const parents: (Ref | null)[] = [];
  const values: DepartmentValues[] = [];
  const outcomes: (RowOutcome | undefined)[] = [];
  for (const [n, row] of rows.entries()) {
    await pause();
    const dept = stored[n];
    const parent = errors.check(n, row.place ? 'path' : 'parentExternalId', () => findParent(n, input));
    parents[n] = parent === undefined ? null : parent === KEEP ? refOf(dept?.parentId ?? null) : parent;
    values[n] = valuesOf(row, dept);
    if (!dept && values[n].deptName === '' && !errors.has(n))
      errors.add(n, 'deptName', apiError('FIELD_REQUIRED', { field: headerOf('deptName') }));
    if (errors.has(n)) continue;
    const isMoved = dept !== undefined && refOf(dept.parentId) !== parents[n];
    const changed = dept ? department.names.filter((name) => values[n]?.[name] !== dept[name]) : [];
    const action = !dept ? 'created' : isMoved ? 'moved' : changed.length > 0 ? 'changed' : 'unchanged';
    outcomes[n] = { action, changes: isMoved ? ['parentId', ...changed] : changed };
  }
  const placed = [...outcomes.keys()].filter((n) => ['created', 'moved'].includes(outcomes[n]?.action ?? ''));
  const moved = placed.filter((n) => stored[n]);

  // Only departments in new places can be too deep or form a cycle. Their ancestors are the only other ones that matter.
  const known = new Set<string>();
  for (const n of placed) {
    const parent = parents[n];
    const id = typeof parent === 'number' ? stored[parent]?.deptId : parent;
    if (id != null) known.add(id);
  }
  for (const n of moved) known.add(stored[n]?.deptId as string);
  const parentIds = await readParents(tx, tenantId, [...known]);
  const parentsOnly = [...new Set(placed.map((n) => parents[n]).filter((ref) => typeof ref === 'string'))];
  const parentDepts = await readStoredDepartments(tx, tenantId, parentsOnly);
  const levelOf = createLevels((ref) =>
    typeof ref === 'number' ? (parents[ref] ?? null) : refOf(parentIds.get(ref) ?? null),
  );
  const levelBefore = createLevels((ref) => parentIds.get(String(ref)) ?? null);
  const heights = new Map<number, number>();
  const deeper = moved.filter((n) => levelOf(n) > levelBefore(stored[n]?.deptId as string));
  const found = await readSubtreeHeights(
    tx,
    tenantId,
    deeper.map((n) => stored[n]?.deptId as string),
  );
  for (const [at, n] of deeper.entries()) heights.set(n, found[at] as number);
  let deepestLevel = 0;
  for (const n of placed) {
    await pause();
    const [parent, level] = [parents[n] ?? null, levelOf(n)];
    const key = rows[n]?.place ? 'path' : 'parentExternalId';
    // The errors of the parent’s row explain this one.
    if (typeof parent === 'number' && errors.has(parent)) continue;
    const status = typeof parent === 'number' ? values[parent]?.status : parent && parentDepts.get(parent)?.status;
    const deepest = level + (heights.get(n) ?? 1) - 1;
    if (Number.isNaN(level)) errors.add(n, key, apiError('DEPT_CYCLE'));
    else if (status === '1') errors.add(n, key, apiError('PARENT_DISABLED'));
    else if (deepest > maxLevels && (!stored[n] || heights.has(n)))
      errors.add(n, key, apiError('TOO_DEEP', { limit: maxLevels, setting: 'BANYAN_DEPARTMENT_LEVELS' }));
    deepestLevel = Math.max(deepestLevel, Number.isNaN(deepest) ? 0 : deepest);
  }
  for (const n of errors.byRow.keys()) outcomes[n] = undefined;

  // Parents are created before their children.
  const unsorted = Int32Array.from(placed.filter((n) => !stored[n]));
  const created = await sortInSlices(unsorted, (a, b) => levelOf(a) - levelOf(b));
  const indexOf = new Map<number, number>();
  for (const [index, n] of created.entries()) {
    indexOf.set(n, index);
    await pause();
  }
  const parentRef = (n: number): ParentRef => {
    const ref = parents[n] ?? null;
    if (typeof ref !== 'number') return { deptId: ref };
    const index = indexOf.get(ref);
    return index === undefined ? { deptId: stored[ref]?.deptId as string } : { index };
  };
  const withId = (n: number) => ({ deptId: stored[n]?.deptId as string, values: values[n] as DepartmentValues });
  const updated = [...outcomes.keys()].filter((n) => outcomes[n]?.action === 'changed');
  const lockIds = new Set([...updated, ...moved].map((n) => stored[n]?.deptId as string));
  for (const n of placed) {
    const parent = parentRef(n);
    if ('deptId' in parent && parent.deptId !== null) lockIds.add(parent.deptId);
    await pause();
  }
  return {
    outcomes,
    lockIds: [...lockIds],
    changes: {
      created: await mapInSlices(created, (n) => ({ values: values[n] as DepartmentValues, parent: parentRef(n) })),
      updated: updated.map((n) => ({ deptId: withId(n).deptId, ...withId(n).values })),
      moved: moved.map((n) => ({ ...withId(n), parent: parentRef(n) })),
      deepestLevel,
    },
  };
}

const KEEP = Symbol('keep');

/** Finds the parent that a row names; KEEP: the department stays where it is. */
function findParent(
  n: number,
  { rows, stored, rowOf, rowOfPlace, rowOfExternalId, deptOfExternalId }: Rows & Matching,
): Ref | null | typeof KEEP {
  const { place, source = '', externalId, parentExternalId } = rows[n] as DepartmentRowInput;
  const refOf = (id: string): Ref => rowOf.get(id) ?? id;
  if (!place) {
    if (parentExternalId === undefined) return stored[n] ? KEEP : null;
    const key = keyOf(source, parentExternalId);
    const row = rowOfExternalId.get(key);
    if (row !== undefined) return row;
    const deptId = deptOfExternalId.get(key);
    if (deptId === undefined) throw apiError('EXTERNAL_ID_NOT_FOUND', { source, externalId: parentExternalId });
    return refOf(deptId);
  }
  // A department that was found by its path stays where it is.
  const dept = stored[n];
  if (dept && externalId === undefined) return KEEP;
  const { parent } = place as { parent: PathNode };
  const row = rowOfPlace.get(parent);
  if (row !== undefined) return row;
  const deptIds = stayingAt(parent, { rows, rowOf });
  const [deptId, another] = deptIds;
  if (dept && deptIds.includes(dept.parentId)) return KEEP;
  if (another !== undefined) throw apiError('DEPT_PATH_AMBIGUOUS', { path: showPath(parent.names) });
  if (deptId === undefined) throw apiError('DEPT_PATH_NOT_FOUND', { path: showPath(parent.names) });
  return deptId === null ? null : refOf(deptId);
}

/** The values that a department will have: those of the file, and otherwise its own or the defaults. */
function valuesOf(
  { place, values, source, externalId }: DepartmentRowInput,
  dept: StoredDepartment | undefined,
): DepartmentValues {
  const own = dept ? department.pick(dept) : department.withDefaults({});
  const named = place ? cleanName(place.name) : undefined;
  const deptName = named === undefined || (dept && cleanName(dept.deptName) === named) ? {} : { deptName: named };
  // An exported file has the name of the user who leads the department. Keep the link to that user instead of storing the name.
  const kept = dept && values.leader === dept.shownLeader ? { leader: own.leader } : {};
  const sent = { ...values, ...kept, ...(place ? { deptName: own.deptName } : {}), ...deptName };
  return { ...own, ...sent, ...(externalId === undefined ? {} : { source, externalId }) } as DepartmentValues;
}

/** Returns a function that counts the levels from the top down to a department; NaN if it would be its own ancestor. */
function createLevels(parentOf: (ref: Ref) => Ref | null): (ref: Ref) => number {
  const levels = new Map<Ref, number>();
  return (start) => {
    const trail = new Set<Ref>();
    let ref: Ref | null = start;
    while (ref !== null && !levels.has(ref) && !trail.has(ref)) {
      trail.add(ref);
      ref = parentOf(ref);
    }
    let level = ref === null ? 0 : (levels.get(ref) ?? Number.NaN);
    for (const each of [...trail].reverse()) levels.set(each, ++level);
    return levels.get(start) as number;
  };
}
