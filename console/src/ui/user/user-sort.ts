/** The columns by which the list of users can be sorted. */
export const SORT_COLUMNS = ['nickName', 'userName', 'createTime'] as const;

export type SortColumn = (typeof SORT_COLUMNS)[number];

/** A column, with `-` in front for descending order. */
export type UserSort = SortColumn | `-${SortColumn}`;

/** Returns null for any other text: the list is then sorted by id. */
export const parseUserSort = (text: string | null): UserSort | null =>
  SORT_COLUMNS.some((column) => text === column || text === `-${column}`) ? (text as UserSort) : null;
