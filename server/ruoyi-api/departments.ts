import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { listDepartments } from '../departments/list.ts';
import type { DeptFilter, DeptRow } from '../departments/schema.ts';
import { apiError } from '../http/errors.ts';
import type { CursorPage } from '../http/pagination.ts';
import { MAX_RESPONSE_BYTES } from '../http/response-size.ts';
import { readUsers } from '../users/reads.ts';
import { notOffered } from './responses.ts';

/** RuoYi's front ends show all departments at once, and a browser cannot handle more than this. */
const MAX_DEPARTMENTS = 10_000;
const PAGE_SIZE = 500;

/** Reads all departments that match, in display order. The transaction is one snapshot, so none is missing. */
export async function readAllDepartments(
  tx: Tx,
  caller: Caller,
  filter: Pick<DeptFilter, 'deptName' | 'status'> = {},
): Promise<DeptRow[]> {
  const all: DeptRow[] = [];
  let pathLength = 0;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = (await listDepartments(tx, caller, { ...filter, cursor, pageSize: PAGE_SIZE })) as CursorPage<DeptRow>;
    for (const row of page.rows) {
      all.push(row);
      pathLength += row.ancestors.length;
    }
    if (all.length > MAX_DEPARTMENTS || (all.length === MAX_DEPARTMENTS && page.next !== null)) {
      throw notOffered({
        zh: `超过 ${MAX_DEPARTMENTS} 个部门的列表`,
        en: `lists of more than ${MAX_DEPARTMENTS} departments`,
      });
    }
    // Do not collect what the response cannot contain: paths may have a thousand levels.
    if (pathLength > MAX_RESPONSE_BYTES) throw apiError('ANSWER_TOO_LARGE', { limit: MAX_RESPONSE_BYTES });
    cursor = page.next;
  }
  return all;
}

/** Leaves out a department and all departments below it: neither can become its parent. */
export function withoutSubtree(departments: readonly DeptRow[], deptId: number): DeptRow[] {
  return departments.filter((dept) => dept.deptId !== deptId && !`,${dept.ancestors},`.includes(`,${deptId},`));
}

interface TreeNode {
  id: number;
  parentId: number;
  label: string;
  weight: number;
  disabled: boolean;
  children?: TreeNode[];
}

/** Nests departments. Those whose parent is not among them are at the top. */
export function toTree(departments: readonly DeptRow[]): TreeNode[] {
  const nodes = new Map(
    departments.map(({ deptId, parentId, deptName, orderNum, status }) => [
      deptId,
      { id: deptId, parentId, label: deptName, weight: orderNum, disabled: status !== '0' } as TreeNode,
    ]),
  );
  const top: TreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.parentId);
    if (!parent) {
      top.push(node);
      continue;
    }
    parent.children ??= [];
    parent.children.push(node);
  }
  return top;
}

/** Returns the name to store as the leader. RuoYi's form sends the id of a user as a number. */
export async function leaderName(tx: Tx, caller: Caller, leader: number | string): Promise<string> {
  if (typeof leader === 'string') return leader;
  if (!caller.permissions.has('user:read')) throw apiError('NOT_ALLOWED');
  const { rows } = await readUsers(tx, caller, [leader]);
  const [user] = rows;
  if (!user) throw apiError('USER_NOT_FOUND');
  return user.nickName || user.userName;
}
