import { api, type User } from '../api.ts';
import { isApiError } from '../http.ts';
import { sessionGuard } from '../session.ts';

interface Options {
  fromDeptId: number;
  /** Includes the users of all descendants. */
  includeDescendants: boolean;
  toDeptId: number;
  onProgress: (done: number, total: number) => void;
  /** Stops before the next user. */
  signal: AbortSignal;
}

const MAX_ATTEMPTS = 5;
const BATCH_SIZE = 500;

/**
 * Moves all users of a department to another one. A main department stays a main department, an additional one stays
 * additional. Returns how many users were moved.
 */
export async function reassignUsers(options: Options): Promise<number> {
  const { fromDeptId, includeDescendants, toDeptId, onProgress, signal } = options;
  const assertSameSession = sessionGuard();
  const canContinue = () => {
    assertSameSession();
    return !signal.aborted;
  };
  const movedIds = new Set<number>();
  while (canContinue()) {
    // Always read the first page: users that were moved are no longer on it.
    const { data } = await api.listDepartmentUsers(fromDeptId, { below: includeDescendants, pageSize: 50 });
    const remaining = data.rows.filter(({ userId }) => !movedIds.has(userId));
    if (remaining.length === 0) break;
    const isSource = await createSourceCheck(remaining, fromDeptId, includeDescendants);
    const total = movedIds.size + data.total;
    for (const { userId } of remaining) {
      if (!(await reassignUser(userId, isSource, toDeptId, canContinue))) break;
      movedIds.add(userId);
      onProgress(movedIds.size, total);
    }
  }
  return movedIds.size;
}

/** Returns a function that tells whether a department is one of those that the users have to leave. */
async function createSourceCheck(
  users: User[],
  fromDeptId: number,
  includeDescendants: boolean,
): Promise<(id: number) => boolean> {
  if (!includeDescendants) return (id) => id === fromDeptId;
  const ids = [...new Set(users.flatMap(getDepartmentIds))];
  const subtree = new Set<number>();
  for (let start = 0; start < ids.length; start += BATCH_SIZE) {
    const { data } = await api.readDepartments(ids.slice(start, start + BATCH_SIZE));
    for (const dept of data.rows)
      if (dept.deptId === fromDeptId || dept.ancestors.split(',').includes(String(fromDeptId)))
        subtree.add(dept.deptId);
  }
  return (id) => subtree.has(id);
}

const getDepartmentIds = ({ deptId, deptIds }: User) => (deptId === null ? deptIds : [deptId, ...deptIds]);

/** Returns false if it was stopped before the update. */
async function reassignUser(
  userId: number,
  isSource: (id: number) => boolean,
  toDeptId: number,
  canContinue: () => boolean,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    if (!canContinue()) return false;
    const { data: user, etag } = await api.readUser(userId);
    if (!canContinue()) return false;
    const replace = (id: number) => (isSource(id) ? toDeptId : id);
    const deptId = user.deptId === null ? null : replace(user.deptId);
    const deptIds = [...new Set(user.deptIds.map(replace))].filter((id) => id !== deptId);
    try {
      // An update replaces the whole record, so send it as it was read.
      await api.updateUser({ ...user, deptId, deptIds }, etag);
      return true;
    } catch (error) {
      // Another user has changed the record. Read it again, so that their change is kept.
      if (!isApiError(error, 'CHANGED_MEANWHILE') || attempt > MAX_ATTEMPTS) throw error;
    }
  }
}
