import { api, type Child, type Dept } from '../api.ts';
import { isApiError } from '../http.ts';
import { getTexts } from '../language.ts';
import { readChildren, type TreeStore } from '../ui/department/tree-store.ts';
import type { DropTarget } from '../ui/tree/types.ts';
import { departmentsTexts } from './texts.ts';

export type DepartmentTarget = DropTarget<Child>;

/** The service accepts this many ids in one order request. */
const MAX_ORDERED = 10_000;
const PAGE_SIZE = 500;
const MAX_RETRIES = 5;

export const getTargetParent = ({ node, position }: DepartmentTarget) =>
  position === 'into' ? node.deptId : node.parentId;

/** Returns why a department cannot be moved to the target, or undefined if it can. The service checks again. */
export function validateMove(tree: TreeStore, moved: Child, target: DepartmentTarget): string | undefined {
  const t = getTexts(departmentsTexts);
  const parentId = getTargetParent(target);
  const parent = tree.getNode(parentId) ?? { deptId: parentId, status: '0' as const };
  // The ancestors that the nodes were loaded with may be outdated: the tree knows the moves since then.
  const error = validateParent(moved, parent, tree.isWithin(parentId, moved.deptId));
  if (error) return error;
  if (target.position === 'into') return parentId === moved.parentId ? t.alreadyThere : undefined;
  if (target.node.deptId === moved.deptId) return t.samePlace;
  const siblings = getLoadedSiblings(tree, target);
  const index = siblings.indexOf(target.node.deptId);
  if (index < 0) return t.loadPrecedingFirst;
  if (siblings[target.position === 'before' ? index - 1 : index + 1] === moved.deptId) return t.samePlace;
  return index >= MAX_ORDERED - 1 ? t.tooFarDown : undefined;
}

/** Returns why a department cannot become the parent of another one, or undefined if it can. */
export function validateParent(
  moved: Dept,
  parent: Pick<Dept, 'deptId' | 'status'>,
  isWithinMoved: boolean,
): string | undefined {
  const t = getTexts(departmentsTexts);
  if (parent.deptId === moved.deptId) return t.intoItself;
  if (isWithinMoved) return t.intoOwnSubtree(moved.deptName);
  if (parent.deptId !== moved.parentId && parent.status === '1') return t.parentDisabled;
  return undefined;
}

const getLoadedSiblings = (tree: TreeStore, { node }: DepartmentTarget): number[] =>
  tree.state
    .get()
    .childLists.get(node.parentId)
    ?.rows.map(({ deptId }) => deptId) ?? [];

export async function moveDepartment(tree: TreeStore, moved: Child, target: DepartmentTarget): Promise<void> {
  const { node, position } = target;
  const parentId = getTargetParent(target);
  const knownSiblings = getLoadedSiblings(tree, target);
  if (parentId !== moved.parentId) await changeParent(moved.deptId, parentId);
  if (position !== 'into')
    await placeAmongSiblings(moved.deptId, parentId, { knownSiblings, position, referenceId: node.deptId });
}

interface SiblingPlacement {
  /** The siblings as the user saw them. */
  knownSiblings: number[];
  position: 'before' | 'after';
  /** The sibling that the department goes before or after. */
  referenceId: number;
}

/**
 * Places a department before or after a sibling. Reads the siblings again, so that an order that another user has set in the
 * meantime is preserved. Writes nothing if the department already has this position.
 */
export async function placeAmongSiblings(deptId: number, parentId: number, placement: SiblingPlacement): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const children = await readChildIds(parentId, placement.referenceId);
    const siblings = children.filter((id) => id !== deptId);
    const index = getInsertIndex(siblings, deptId, placement);
    if (children[index] === deptId) return;
    const deptIds = [...siblings.slice(0, index), deptId];
    try {
      await api.orderDepartments({ parentId, deptIds });
      return;
    } catch (error) {
      // A sibling was moved away between the two requests. Try again with the current siblings.
      const siblingLeft =
        isApiError(error, 'NOT_CHILDREN') && !(error.details.deptIds as unknown[]).map(Number).includes(deptId);
      if (!siblingLeft || attempt > MAX_RETRIES) throw error;
    }
  }
}

/** Reads child ids up to and including `untilId`, but not more than one order request can take. */
async function readChildIds(parentId: number, untilId: number): Promise<number[]> {
  const ids: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data } = await readChildren(parentId, cursor, PAGE_SIZE);
    ids.push(...data.rows.map(({ deptId }) => deptId));
    if (data.next === null || ids.includes(untilId) || ids.length >= MAX_ORDERED) return ids.slice(0, MAX_ORDERED - 1);
    cursor = data.next;
  }
}

/**
 * If the reference sibling is no longer there, uses the nearest sibling that the user saw; without one, the end of
 * the list.
 */
function getInsertIndex(
  siblings: number[],
  deptId: number,
  { knownSiblings, position, referenceId }: SiblingPlacement,
): number {
  const others = knownSiblings.filter((id) => id !== deptId);
  const split = others.indexOf(referenceId) + (position === 'after' ? 1 : 0);
  const indexes = new Map(siblings.map((id, index) => [id, index]));
  const previous = others.slice(0, split).findLast((id) => indexes.has(id));
  const next = others.slice(split).find((id) => indexes.has(id));
  const afterPrevious = previous === undefined ? undefined : (indexes.get(previous) as number) + 1;
  const beforeNext = next === undefined ? undefined : indexes.get(next);
  return (position === 'after' ? (afterPrevious ?? beforeNext) : (beforeNext ?? afterPrevious)) ?? siblings.length;
}

/**
 * Changes only the parent. If another user has changed other fields in the meantime, reads them again and keeps them.
 */
export async function changeParent(deptId: number, parentId: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { data, etag } = await api.readDepartment(deptId);
    try {
      // An update replaces the whole record, so send it as it was read. The service ignores the fields that it sets
      // itself.
      await api.updateDepartment({ ...data, parentId }, etag);
      return;
    } catch (error) {
      if (!isApiError(error, 'CHANGED_MEANWHILE') || attempt > MAX_RETRIES) throw error;
    }
  }
}
