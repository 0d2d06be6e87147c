import { bigintOf, type Tx } from '../../db/driver.ts';
import type { Part } from './query.ts';

/** The largest character, which sorts after every continuation of a name. */
const LAST_CHARACTER = '\u{10FFFF}';

export interface DeptRow {
  id: string;
  name: string;
  /** null: top level. */
  parentId: string | null;
  status: '0' | '1';
}

const deptColumns = (tx: Tx) =>
  tx`d.dept_id::text as id, d.dept_name as name, d.parent_id::text as "parentId", d.status`;

export const readDictionary = async (tx: Tx): Promise<Buffer> => {
  const [row] = await tx<[{ bytes: Buffer }]>`select pinyin_readings() as bytes`;
  return row.bytes;
};

/** Reads the departments that were created first. */
export const readFirstDepartments = (tx: Tx, tenantId: string, count: number) => tx<DeptRow[]>`
  select ${deptColumns(tx)} from departments d where d.tenant_id = ${tenantId} and d.del_flag = '0'
  order by d.create_time, d.dept_id limit ${count}`;

/** Reads departments whose name begins with this text, in the order of their names: a name that is equal comes first. */
export const readDepartmentsNamed = (tx: Tx, tenantId: string, text: string, count: number) => tx<DeptRow[]>`
  select ${deptColumns(tx)} from departments d
  where d.tenant_id = ${tenantId} and d.del_flag = '0' and d.dept_name collate "C" >= ${text}
    and d.dept_name collate "C" < ${text + LAST_CHARACTER}
  order by d.dept_name collate "C", d.dept_id limit ${count}`;

/** Returns candidates from the search index. */
export const findDepartments = async (tx: Tx, parts: Part[], maxRows: number): Promise<string[]> => {
  const rows = await tx<
    { id: string }[]
  >`select id::text from find_departments(${tx.json(parts as never)}, ${maxRows}) f (id)`;
  return rows.map(({ id }) => id);
};

export const readDepartments = (tx: Tx, tenantId: string, ids: string[]) => tx<DeptRow[]>`
  select ${deptColumns(tx)} from unnest(${ids.map(bigintOf)}::bigint[]) as wanted (id)
  cross join lateral (
    select * from departments d where d.tenant_id = ${tenantId} and d.dept_id = wanted.id limit 1
  ) d
  where d.del_flag = '0'`;

/** Reads the departments below the given ones, level by level, up to `maxRows`. */
export const readDescendants = (tx: Tx, tenantId: string, ids: string[], maxRows: number) => tx<DeptRow[]>`
  select ${deptColumns(tx)} from (
    select b.id from unnest(${ids.map(bigintOf)}::bigint[]) as wanted (id)
    cross join lateral department_descendants(${tenantId}, wanted.id, ${maxRows}) as b (id)
    limit ${maxRows}
  ) below
  cross join lateral (
    select * from departments d where d.tenant_id = ${tenantId} and d.dept_id = below.id limit 1
  ) d
  where d.del_flag = '0'`;

export interface UserRow {
  id: string;
  userName: string;
  nickName: string | null;
  phone: string | null;
  position: string | null;
  status: '0' | '1';
  deptId: string | null;
}

export const findUsers = async (tx: Tx, parts: Part[], maxRows: number): Promise<string[]> => {
  const rows = await tx<
    { id: string }[]
  >`select id::text from find_users(${tx.json(parts as never)}, ${maxRows}) f (id)`;
  return rows.map(({ id }) => id);
};

export const findUserByName = async (tx: Tx, tenantId: string, userKey: string): Promise<string[]> => {
  const rows = await tx<{ id: string }[]>`
    select u.user_id::text as id from users u
    where u.tenant_id = ${tenantId} and u.user_key = ${userKey} and u.del_flag = '0'`;
  return rows.map(({ id }) => id);
};

export const readUsers = (tx: Tx, tenantId: string, ids: string[]) => tx<UserRow[]>`
  select u.user_id::text as id, u.user_name as "userName", u.nick_name as "nickName", u.phone, u.position, u.status,
    m.dept_id::text as "deptId"
  from unnest(${ids.map(bigintOf)}::bigint[]) as wanted (id)
  cross join lateral (select * from users u where u.tenant_id = ${tenantId} and u.user_id = wanted.id limit 1) u
  left join lateral (
    select m.dept_id from user_departments m where m.tenant_id = ${tenantId} and m.user_id = u.user_id and m.main limit 1
  ) m on true
  where u.del_flag = '0'`;

export interface TenantRow {
  id: string;
  tenantId: string;
  tenantName: string | null;
  companyName: string | null;
  phone: string | null;
  status: '0' | '1';
  /** The names of the tenants above it that the transaction sees, from the top. */
  path: string[];
}

export const findTenants = async (tx: Tx, parts: Part[], maxRows: number): Promise<string[]> => {
  const rows = await tx<
    { id: string }[]
  >`select id::text from find_tenants(${tx.json(parts as never)}, ${maxRows}) f (id)`;
  return rows.map(({ id }) => id);
};

/** Reads tenants by their internal ids, and the one with this code. */
export const readTenants = (tx: Tx, tenantId: string, ids: string[], code: string | null) => tx<TenantRow[]>`
  select t.id::text, t.tenant_id as "tenantId", t.tenant_name as "tenantName", t.company_name as "companyName",
    t.contact_phone as phone, t.status,
    array(select coalesce(a.tenant_name, a.tenant_id) from unnest(t.path) with ordinality p (code, n)
      join tenants a on a.tenant_id = p.code and a.path @> array[${tenantId}::text]
      where a.tenant_id <> t.tenant_id order by p.n) as path
  from (
    select t.tenant_id from unnest(${ids.map(bigintOf)}::bigint[]) as wanted (id)
    cross join lateral (select t.tenant_id from tenants t where t.id = wanted.id limit 1) t
    union
    select ${code}::text where ${code}::text is not null
  ) found
  cross join lateral (
    select * from tenants t where t.tenant_id = found.tenant_id and t.path @> array[${tenantId}::text] limit 1
  ) t
  where t.del_flag = '0'`;
