import { bigintOf, type Fragment, type Tx } from '../../db/driver.ts';
import type { Rows } from '../http/fields.ts';
import { columns, withNumbers } from './queries.ts';
import type { User } from './schema.ts';

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

export const listUsers = async (
  tx: Tx,
  tenantId: string,
  filter: UserSearch & { limit: number; offset: number },
): Promise<Rows<User>> => {
  const matches = matching(tx, tenantId, filter);
  const [rows, [{ total }]] = await Promise.all([
    tx<User[]>`
      select ${columns(tx)} from (
        select * from users u where ${matches} order by u.user_id limit ${filter.limit} offset ${filter.offset}
      ) u order by u.user_id`,
    tx<[{ total: number }]>`select count(*) as total from users u where ${matches}`,
  ]);
  return { rows: rows.map(withNumbers), total };
};

/** Reads matching users in the order of their ids, after a given one. */
export const readUsersAfter = async (
  tx: Tx,
  tenantId: string,
  search: UserSearch,
  { afterId, limit }: { afterId: string; limit: number },
): Promise<User[]> => {
  const rows = await tx<User[]>`
    select ${columns(tx)} from (
      select * from users u where ${matching(tx, tenantId, search)} and u.user_id > ${bigintOf(afterId)}
      order by u.user_id limit ${limit}
    ) u order by u.user_id`;
  return rows.map(withNumbers);
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
  { limit, offset }: { limit: number; offset: number },
): Promise<User[]> => {
  const rows = await tx<User[]>`
    select ${columns(tx)} from (
      ${members} order by m.user_id limit ${limit} offset ${offset}
    ) m cross join lateral (
      select * from users u where u.tenant_id = ${tenantId} and u.user_id = m.user_id limit 1
    ) u order by u.user_id`;
  return rows.map(withNumbers);
};
