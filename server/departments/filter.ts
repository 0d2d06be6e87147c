import { idOf } from '../http/fields.ts';
import { isTextKey, isTimeKey, parseSort, type SortOrder } from '../http/pagination.ts';
import type { DeptFilter, Sort } from './schema.ts';

/** The filters of a list; null: any. */
export interface Search {
  deptName: string | null;
  /** Whether `deptName` has to be the whole name. */
  exact: boolean;
  leader: string | null;
  status: string | null;
  source: string | null;
  externalId: string | null;
  /** '0': top level. */
  parentId: string | null;
  underId: string | null;
}

export const searchOf = (filter: DeptFilter): Search => ({
  deptName: filter.deptName ?? null,
  exact: filter.exact ?? false,
  leader: filter.leader ?? null,
  status: filter.status ?? null,
  source: filter.source ?? null,
  externalId: filter.externalId ?? null,
  parentId: filter.parentId === undefined ? null : idOf(filter.parentId),
  underId: filter.underId === undefined || idOf(filter.underId) === '0' ? null : idOf(filter.underId),
});

/**
 * Returns the external id of a search that names both of its parts, which finds at most one department. Returns undefined for any
 * other search.
 */
export const externalIdOf = ({ source, externalId }: Search) =>
  source !== null && externalId !== null ? { index: 0, source, externalId } : undefined;

export type Order = SortOrder<Sort>;

export const orderOf = ({ sort = 'orderNum' }: DeptFilter): Order => parseSort<Sort>(sort);

/** The sort order of the children of a department: a cursor is valid for the children of this department only. */
export const sortOfChildren = (deptId: string) => `children of ${deptId}`;

/** Whether a sort key from a cursor has the type of its column: it becomes a parameter of the statement. */
export const isValidKey: Record<Sort, (key: string) => boolean> = {
  orderNum: (key) => /^-?\d{1,10}$/.test(key) && Number(key) === (Number(key) | 0),
  deptName: isTextKey,
  createTime: isTimeKey,
  updateTime: (key) => key === '-infinity' || isTimeKey(key),
};
