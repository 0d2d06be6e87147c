import { api, type User } from '../api.ts';
import { isRefusal } from '../http.ts';
import { inThisSession } from '../session.ts';

interface Moving {
  deptId: number;
  /** Also those of all departments below it. */
  below: boolean;
  to: number;
  told: (done: number, all: number) => void;
  /** Whoever is not moved yet stays. */
  signal: AbortSignal;
}

/** Everybody there goes to another department, as main or as further one as he was there. Tells how many were moved. */
export async function movePeople({ deptId, below, to, told, signal }: Moving): Promise<number> {
  const sameSession = inThisSession();
  const goesOn = () => {
    sameSession();
    return !signal.aborted;
  };
  const seen = new Set<number>();
  while (goesOn()) {
    // Always the first page: who was moved is not on it any more.
    const { data } = await api.listDepartmentUsers(deptId, { below, pageSize: 50 });
    const waiting = data.rows.filter(({ userId }) => !seen.has(userId));
    if (waiting.length === 0) break;
    const leaves = await inside(waiting, deptId, below);
    const all = seen.size + data.total;
    for (const { userId } of waiting) {
      if (!(await moveOne(userId, leaves, to, goesOn))) break;
      seen.add(userId);
      told(seen.size, all);
    }
  }
  return seen.size;
}

/** Which of the departments of these people are those to be left. */
async function inside(users: User[], deptId: number, below: boolean): Promise<(id: number) => boolean> {
  if (!below) return (id) => id === deptId;
  const ids = [...new Set(users.flatMap(departmentsOf))];
  const branch = new Set<number>();
  for (let start = 0; start < ids.length; start += 500) {
    const { data } = await api.readDepartments(ids.slice(start, start + 500));
    for (const dept of data.rows)
      if (dept.deptId === deptId || dept.ancestors.split(',').includes(String(deptId))) branch.add(dept.deptId);
  }
  return (id) => branch.has(id);
}

const departmentsOf = ({ deptId, deptIds }: User) => (deptId === null ? deptIds : [deptId, ...deptIds]);

/** False: stopped before. */
async function moveOne(
  userId: number,
  leaves: (id: number) => boolean,
  to: number,
  goesOn: () => boolean,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    if (!goesOn()) return false;
    const { data: user, etag } = await api.readUser(userId);
    if (!goesOn()) return false;
    const { nickName, email, phone, status, roles } = user;
    const swap = (id: number) => (leaves(id) ? to : id);
    const deptId = user.deptId === null ? null : swap(user.deptId);
    const deptIds = [...new Set(user.deptIds.map(swap))].filter((id) => id !== deptId);
    try {
      await api.updateUser({ userId, nickName, email, phone, status, roles, deptId, deptIds }, etag);
      return true;
    } catch (error) {
      // Whatever was changed meanwhile is kept.
      if (!isRefusal(error, 'CHANGED_MEANWHILE') || tries > 5) throw error;
    }
  }
}
