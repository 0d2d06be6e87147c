import { api, type Child, type Dept, type DeptUpdate } from '../api.ts';
import { isRefusal } from '../http.ts';
import { textsNow } from '../language.ts';
import { departmentsTexts } from './texts.ts';
import { readChildren, type TreeStore } from './tree-store.ts';

/** Where a department is to go: below another, or beside it. */
export interface Target {
  node: Child;
  where: 'into' | 'before' | 'after';
}

/** As many as the service takes in one order. */
const MOST_LISTED = 10_000;
const PAGE = 500;

export const parentOf = ({ node, where }: Target) => (where === 'into' ? node.deptId : node.parentId);

/** Why a department cannot go there, in words; undefined when it can. The service has the last word. */
export function whyNot(tree: TreeStore, moved: Child, target: Target): string | undefined {
  const t = textsNow(departmentsTexts);
  const parentId = parentOf(target);
  const refusal = whyNotBelow(tree, moved, parentId);
  if (refusal) return refusal;
  if (target.where === 'into') return parentId === moved.parentId ? t.alreadyThere : undefined;
  if (target.node.deptId === moved.deptId) return t.samePlace;
  const index = seenBeside(tree, target).indexOf(target.node.deptId);
  if (index < 0) return t.loadFirst;
  return index >= MOST_LISTED - 1 ? t.tooFar : undefined;
}

export function whyNotBelow(tree: TreeStore, moved: Child | Dept, parentId: number): string | undefined {
  const t = textsNow(departmentsTexts);
  if (parentId === moved.deptId) return t.ontoItself;
  if (tree.isWithin(parentId, moved.deptId)) return t.ownBranch(moved.deptName);
  if (parentId !== moved.parentId && tree.node(parentId)?.status === '1') return t.parentDisabled;
  return undefined;
}

const seenBeside = (tree: TreeStore, { node }: Target): number[] =>
  tree.state
    .get()
    .branches.get(node.parentId)
    ?.rows.map(({ deptId }) => deptId) ?? [];

export async function place(tree: TreeStore, moved: Child, target: Target): Promise<void> {
  const { node, where } = target;
  const parentId = parentOf(target);
  const seen = seenBeside(tree, target);
  if (parentId !== moved.parentId) await moveBelow(moved.deptId, parentId);
  if (where !== 'into') await putBeside(moved.deptId, parentId, { seen, where, of: node.deptId });
}

interface Beside {
  /** The siblings as the person saw them. */
  seen: number[];
  where: 'before' | 'after';
  of: number;
}

/** Among the siblings as they are now: the order that somebody else gave them meanwhile stays. */
export async function putBeside(deptId: number, parentId: number, beside: Beside): Promise<void> {
  for (let tries = 1; ; tries++) {
    const siblings = (await childrenNow(parentId, beside.of)).filter((id) => id !== deptId);
    const deptIds = [...siblings.slice(0, indexAmong(siblings, deptId, beside)), deptId];
    try {
      await api.orderDepartments({ parentId, deptIds });
      return;
    } catch (error) {
      // One of the others left in this very moment.
      const isOther =
        isRefusal(error, 'NOT_CHILDREN') && !(error.data.deptIds as unknown[]).map(Number).includes(deptId);
      if (!isOther || tries > 5) throw error;
    }
  }
}

/** As far as the one that is looked for, or as many as one order takes. */
async function childrenNow(parentId: number, until: number): Promise<number[]> {
  const ids: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data } = await readChildren(parentId, cursor, PAGE);
    ids.push(...data.rows.map(({ deptId }) => deptId));
    if (data.next === null || ids.includes(until) || ids.length >= MOST_LISTED) return ids.slice(0, MOST_LISTED - 1);
    cursor = data.next;
  }
}

/** Beside the one that was meant; when that one has left, beside the nearest that was seen there; else at the end. */
function indexAmong(siblings: number[], deptId: number, { seen, where, of }: Beside): number {
  const others = seen.filter((id) => id !== deptId);
  const at = others.indexOf(of) + (where === 'after' ? 1 : 0);
  const places = new Map(siblings.map((id, index) => [id, index]));
  const behind = others.slice(0, at).findLast((id) => places.has(id));
  const ahead = others.slice(at).find((id) => places.has(id));
  const afterBehind = behind === undefined ? undefined : (places.get(behind) as number) + 1;
  const beforeAhead = ahead === undefined ? undefined : places.get(ahead);
  return (where === 'after' ? (afterBehind ?? beforeAhead) : (beforeAhead ?? afterBehind)) ?? siblings.length;
}

/** Only the place changes: whatever else somebody changed meanwhile is read again and kept. */
export async function moveBelow(deptId: number, parentId: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { data, etag } = await api.readDepartment(deptId);
    try {
      await api.updateDepartment({ ...fieldsOf(data), deptId, parentId }, etag);
      return;
    } catch (error) {
      if (!isRefusal(error, 'CHANGED_MEANWHILE') || tries > 5) throw error;
    }
  }
}

/** What an update has to send so that nothing is lost. */
export const fieldsOf = ({ deptName, orderNum, leader, phone, email, status }: Dept): Omit<DeptUpdate, 'deptId'> => ({
  deptName,
  orderNum,
  leader,
  phone,
  email,
  status,
});
