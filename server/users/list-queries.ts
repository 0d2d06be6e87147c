import { bigintOf, exactTime, type Fragment, type Tx } from '../../db/driver.ts';
import type { CursorPosition, PageRange, SortOrder } from '../http/pagination.ts';
import { columns, withNumbers } from './queries.ts';
import type { User, UserSort } from './schema.ts';

export interface UserSearch {
  userName: string | null;
  deptId: string | null;
  status: string | null;
  /** Part of the user name, nickname or phone number. */
  q: string | null;
  source: string | null;
  externalId: string | null;
  /** Part of the phone number. */
  phone?: string | undefined;
  /** Selects the ids of the users to list. */
  members?: Fragment | undefined;
  createdFrom?: string | undefined;
  createdTo?: string | undefined;
}

/** A user with their sort key, as a cursor contains it. */
export type KeyedUser = User & { key: string };

const matching = (tx: Tx, tenantId: string, search: UserSearch) => {
  const { userName, deptId, status, q, source, externalId, phone, members, createdFrom, createdTo } = search;
  const contains = (column: Fragment, text: string) => tx`strpos(lower(${column}), lower(${text})) > 0`;
  const inDept = (id: string) => tx`and exists (
    select from user_departments m
    where m.tenant_id = u.tenant_id and m.user_id = u.user_id and m.dept_id = ${bigintOf(id)})`;
  return tx`
    u.tenant_id = ${tenantId} and u.del_flag = '0'
    ${userName === null ? tx`` : tx`and ${contains(tx`u.user_name`, userName)}`}
    ${q === null ? tx`` : tx`and (${contains(tx`u.user_name`, q)} or ${contains(tx`u.nick_name`, q)} or strpos(u.phone, ${q}) > 0)`}
    ${deptId === null ? tx`` : inDept(deptId)}
    ${source === null ? tx`` : tx`and u.source = ${source}`}
    ${externalId === null ? tx`` : tx`and u.external_id = ${externalId}`}
    ${phone === undefined ? tx`` : tx`and strpos(u.phone, ${phone}) > 0`}
    ${members === undefined ? tx`` : tx`and u.user_id in (${members})`}
    ${createdFrom === undefined ? tx`` : tx`and u.create_time >= ${createdFrom}::timestamptz`}
    ${createdTo === undefined ? tx`` : tx`and u.create_time < ${createdTo}::timestamptz + interval '1 second'`}
    ${status === null ? tx`` : tx`and u.status = ${status}`}`;
};

/** The expressions of a sort order. */
interface SortKey {
  key: Fragment;
  /** The key as a cursor contains it. */
  text: Fragment;
  type: Fragment;
  /** No two users have the same key. Otherwise the id is a second key. */
  unique?: true;
}

/** The only expressions that an `order by` may contain. */
const sortKeys: Record<UserSort, (tx: Tx) => SortKey> = {
  userId: (tx) => ({ key: tx`u.user_id`, text: tx`u.user_id::text`, type: tx`bigint`, unique: true }),
  userName: (tx) => ({ key: tx`u.user_key`, text: tx`u.user_key`, type: tx`text`, unique: true }),
  nickName: (tx) => {
    // Users without a nickname sort before all others. Under row-level security the planner does not trust coalesce(), so it
    // would not use the index to find where the page begins.
    const text = tx`case when u.nick_name is null then '' else u.nick_name end`;
    return { key: tx`(${text}) collate "C"`, text, type: tx`text` };
  },
  createTime: (tx) => ({ key: tx`u.create_time`, text: exactTime(tx, tx`u.create_time`), type: tx`timestamptz` }),
};

export const readPage = async (
  tx: Tx,
  tenantId: string,
  search: UserSearch,
  { sort, descending }: SortOrder<UserSort>,
  { after, limit, offset = 0 }: PageRange,
): Promise<KeyedUser[]> => {
  const { key, text, type, unique } = sortKeys[sort](tx);
  const direction = descending ? tx`desc` : tx`asc`;
  const orderBy = unique ? tx`${key} ${direction}` : tx`${key} ${direction}, u.user_id ${direction}`;
  // Cast to text first: the driver converts timestamptz parameters to a Date, which has no microseconds.
  const isAfter = ({ key: last, id }: CursorPosition) => {
    const operator = descending ? tx`<` : tx`>`;
    return unique
      ? tx`and ${key} ${operator} ${last}::text::${type}`
      : tx`and (${key}, u.user_id) ${operator} (${last}::text::${type}, ${bigintOf(id)}::bigint)`;
  };
  // The columns are computed outside of the subquery: for the rows of the page, and not for those that it skips.
  const rows = await tx<KeyedUser[]>`
    select ${columns(tx)}, ${text} as key from (
      select * from users u where ${matching(tx, tenantId, search)} ${after ? isAfter(after) : tx``}
      order by ${orderBy} limit ${limit} offset ${offset}
    ) u order by ${orderBy}`;
  return rows.map(withNumbers);
};

export const countUsers = async (tx: Tx, tenantId: string, search: UserSearch): Promise<number> => {
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*) as total from users u where ${matching(tx, tenantId, search)}`;
  return total;
};

export const countMembers = async (tx: Tx, members: Fragment): Promise<number> => {
  const [row] = await tx<[{ total: number }]>`select count(*) as total from (${members}) m`;
  return row.total;
};

/** Reads a page of the users whose ids `members` selects. Deleted users have no memberships, so none of them is deleted. */
export const readMembers = async (
  tx: Tx,
  tenantId: string,
  members: Fragment,
  { after, limit, offset = 0 }: PageRange,
): Promise<User[]> => {
  const rows = await tx<User[]>`
    select ${columns(tx)} from (
      ${members} ${after ? tx`and m.user_id > ${bigintOf(after.id)}` : tx``}
      order by m.user_id limit ${limit} offset ${offset}
    ) m cross join lateral (
      select * from users u where u.tenant_id = ${tenantId} and u.user_id = m.user_id limit 1
    ) u order by u.user_id`;
  return rows.map(withNumbers);
};
