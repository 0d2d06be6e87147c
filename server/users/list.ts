import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { assertDepartmentExists, memberIds } from '../departments/members.ts';
import { idOf, isLong, pageOf, type Rows } from '../http/fields.ts';
import {
  type CursorPage,
  decodeCursor,
  formatSort,
  isTextKey,
  isTimeKey,
  parseSort,
  type SortOrder,
  toCursorPage,
} from '../http/pagination.ts';
import { countMembers, countUsers, type KeyedUser, readMembers, readPage, type UserSearch } from './list-queries.ts';
import type { DeptUserFilter, User, UserExportFilter, UserFilter, UserSort } from './schema.ts';

/** Lists users by page number, or by cursor if the request has one. */
export async function listUsers(tx: Tx, caller: Caller, filter: UserFilter): Promise<Rows<User> | CursorPage<User>> {
  if (filter.cursor === undefined) return readNumberedPage(tx, caller, filter);
  const { tenantId } = caller;
  const order = orderOf(filter);
  const sort = formatSort(order);
  const { limit } = pageOf(filter);
  const after = filter.cursor && decodeCursor(filter.cursor, sort, isValidKey[order.sort]);
  const search = searchOf(tx, tenantId, filter);
  const found = await readPage(tx, tenantId, search, order, { limit: limit + 1, ...(after ? { after } : {}) });
  const page = toCursorPage(found, limit, ({ key, userId }) => ({ sort, key, id: String(userId) }));
  return { ...page, rows: page.rows.map(withoutKey) };
}

/** Filters that RuoYi's front ends send (ruoyi-api/). Times have the format of `createTime`, and both ends are included. */
interface RuoyiUserFilters {
  phone?: string | undefined;
  /** Only users of this department and of those below it. */
  underId?: string | undefined;
  createdFrom?: string | undefined;
  createdTo?: string | undefined;
}

export async function readNumberedPage(
  tx: Tx,
  { tenantId }: Caller,
  filter: UserFilter,
  { underId, ...further }: RuoyiUserFilters = {},
): Promise<Rows<User>> {
  const search = {
    ...searchOf(tx, tenantId, filter),
    ...further,
    ...(underId === undefined ? {} : { members: memberIds(tx, tenantId, underId, { withSubtree: true }) }),
  };
  const [rows, total] = await Promise.all([
    readPage(tx, tenantId, search, orderOf(filter), pageOf(filter)),
    countUsers(tx, tenantId, search),
  ]);
  return { rows: rows.map(withoutKey), total };
}

const orderOf = ({ sort = 'userId' }: UserFilter): SortOrder<UserSort> => parseSort<UserSort>(sort);

/** Whether a sort key from a cursor has the type of its column: it becomes a parameter of the statement. */
const isValidKey: Record<UserSort, (key: string) => boolean> = {
  userId: isLong,
  userName: isTextKey,
  nickName: isTextKey,
  createTime: isTimeKey,
};

const withoutKey = ({ key: _, ...user }: KeyedUser): User => user;

export function searchOf(tx: Tx, tenantId: string, filter: Omit<UserExportFilter, 'format'>): UserSearch {
  const deptId = filter.deptId === undefined ? null : idOf(filter.deptId);
  const below = filter.below === true && deptId !== null;
  return {
    userName: filter.userName ?? null,
    deptId: below ? null : deptId,
    members: below ? memberIds(tx, tenantId, deptId, { withSubtree: true }) : undefined,
    status: filter.status ?? null,
    q: filter.q ?? null,
    source: filter.source ?? null,
    externalId: filter.externalId ?? null,
  };
}

/** Lists the users of a department, or of its whole subtree, by page number, or by cursor if the request has one. */
export async function listDepartmentUsers(
  tx: Tx,
  caller: Caller,
  deptId: string,
  filter: DeptUserFilter,
): Promise<Rows<User> | CursorPage<User>> {
  const { below = false, countOnly = false, cursor } = filter;
  if (cursor === undefined || countOnly) return readNumberedMembers(tx, caller, deptId, filter);
  const { tenantId } = caller;
  const { limit } = pageOf(filter);
  const sort = `users of ${deptId}`;
  const after = cursor && decodeCursor(cursor, sort, (key) => key === '');
  await assertDepartmentExists(tx, tenantId, deptId);
  const members = memberIds(tx, tenantId, deptId, { withSubtree: below });
  const found = await readMembers(tx, tenantId, members, { limit: limit + 1, ...(after ? { after } : {}) });
  return toCursorPage(found, limit, ({ userId }) => ({ sort, key: '', id: String(userId) }));
}

export async function readNumberedMembers(
  tx: Tx,
  { tenantId }: Caller,
  deptId: string,
  { below = false, countOnly = false, ...paging }: DeptUserFilter,
): Promise<Rows<User>> {
  await assertDepartmentExists(tx, tenantId, deptId);
  const members = () => memberIds(tx, tenantId, deptId, { withSubtree: below });
  const [rows, total] = await Promise.all([
    countOnly ? [] : readMembers(tx, tenantId, members(), pageOf(paging)),
    countMembers(tx, members()),
  ]);
  return { rows, total };
}
