import { api, type Child, type Dept, type DeptUpdate } from '../api.ts';
import { isRefusal } from '../http.ts';
import { textsNow } from '../language.ts';
import { departmentsTexts } from './texts.ts';
import { TOP, type TreeStore } from './tree-store.ts';

/** Where a department is to go: below another, or beside it. */
export interface Target {
  node: Child;
  where: 'into' | 'before' | 'after';
}

/** As many as the service takes in one order. */
const MOST_LISTED = 10_000;

export const parentOf = ({ node, where }: Target) => (where === 'into' ? node.deptId : node.parentId);

/** Why a department cannot go there, in words; undefined when it can. The service has the last word. */
export function whyNot(tree: TreeStore, moved: Child, target: Target): string | undefined {
  const t = textsNow(departmentsTexts);
  const parentId = parentOf(target);
  const refusal = whyNotBelow(tree, moved, parentId);
  if (refusal) return refusal;
  if (target.where === 'into') return parentId === moved.parentId ? t.alreadyThere : undefined;
  if (target.node.deptId === moved.deptId) return t.samePlace;
  const before = orderFor(tree, moved, target);
  if (!before) return t.loadFirst;
  return before.length > MOST_LISTED ? t.tooFar : undefined;
}

export function whyNotBelow(tree: TreeStore, moved: Child | Dept, parentId: number): string | undefined {
  const t = textsNow(departmentsTexts);
  if (parentId === moved.deptId) return t.ontoItself;
  for (let id = parentId; id !== TOP; id = tree.node(id)?.parentId ?? TOP)
    if (id === moved.deptId) return t.ownBranch(moved.deptName);
  if (parentId !== moved.parentId && tree.node(parentId)?.status === '1') return t.parentDisabled;
  return undefined;
}

/** Those who come first, the moved one as the last of them; undefined when they are not all read. */
function orderFor(tree: TreeStore, moved: Child | Dept, { node, where }: Target): number[] | undefined {
  const siblings =
    tree.state
      .get()
      .branches.get(node.parentId)
      ?.rows.map(({ deptId }) => deptId) ?? [];
  const others = siblings.filter((id) => id !== moved.deptId);
  const index = others.indexOf(node.deptId);
  if (index < 0) return undefined;
  return [...others.slice(0, where === 'after' ? index + 1 : index), moved.deptId];
}

export async function place(tree: TreeStore, moved: Child, target: Target): Promise<void> {
  const parentId = parentOf(target);
  const order = target.where === 'into' ? undefined : orderFor(tree, moved, target);
  if (parentId !== moved.parentId) await moveBelow(moved.deptId, parentId);
  if (order) await api.orderDepartments({ parentId, deptIds: order });
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
