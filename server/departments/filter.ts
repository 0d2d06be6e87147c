import { idOf, isCalendarDate } from '../http/fields.ts';
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

/** A search for both parts of an external id finds one department at most; undefined: it is another search. */
export const externalIdOf = ({ source, externalId }: Search) =>
  source !== null && externalId !== null ? { index: 0, source, externalId } : undefined;

export interface Order {
  sort: Sort;
  descending: boolean;
}

export function orderOf({ sort = 'orderNum' }: DeptFilter): Order {
  const descending = sort.startsWith('-');
  return { sort: (descending ? sort.slice(1) : sort) as Sort, descending };
}

/** The sort order of a list, as a cursor contains it. */
export const sortOf = ({ sort, descending }: Order) => (descending ? `-${sort}` : sort);

/** The sort order of the children of a department: a cursor is valid for the children of this department only. */
export const sortOfChildren = (deptId: string) => `children of ${deptId}`;

/** Whether a sort key from a cursor has the type of its column: it becomes a parameter of the statement. */
export const isValidKey: Record<Sort, (key: string) => boolean> = {
  orderNum: (key) => /^-?\d{1,10}$/.test(key) && Number(key) === (Number(key) | 0),
  deptName: (key) => key.length <= 200 && key.isWellFormed() && !key.includes('\0'),
  createTime: (key) => isExactTime(key),
  updateTime: (key) => key === '-infinity' || isExactTime(key),
};

const isExactTime = (key: string) =>
  isCalendarDate(key.slice(0, 10)) && /^T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/.test(key.slice(10));
