import { hash } from '@node-rs/bcrypt';
import { seededRandom } from './scale.ts';

/** Generates the data of a RuoYi-Vue-Plus 5.x installation with its usual defects. */

type Value = string | number | null;
export type Rows = Record<string, Record<string, Value>[]>;

export interface RuoyiDatabase {
  url: string;
  run(statement: string): Promise<unknown>;
  close(): Promise<void>;
}

export const RUOYI_PASSWORD = 'admin123-of-ruoyi';
/** RuoYi's own form of a bcrypt hash. */
export const ruoyiHash = async (password: string, cost = 10): Promise<string> =>
  (await hash(password, cost)).replace(/^\$2[by]\$/, '$2a$');

/** Returns an id as RuoYi generates it: above 2^53-1. */
export const snowflake = (n: number): string => (1_893_000_000_000_000_001n + BigInt(n)).toString();

const tables = (time: string, leader: string) => ({
  sys_tenant: `id bigint primary key, tenant_id varchar(20), contact_user_name varchar(20), contact_phone varchar(20),
    company_name varchar(200), license_number varchar(30), address varchar(200), intro varchar(200), domain varchar(200),
    remark varchar(200), package_id bigint, expire_time ${time}, account_count int, status char(1), del_flag char(1)`,
  sys_tenant_package:
    'package_id bigint primary key, package_name varchar(20), menu_ids varchar(3000), status char(1), del_flag char(1)',
  sys_dept: `dept_id bigint primary key, tenant_id varchar(20), parent_id bigint, ancestors varchar(500), dept_name varchar(200),
    dept_category varchar(100), order_num int, leader ${leader}, phone varchar(60), email varchar(300), status char(1),
    del_flag char(1)`,
  sys_user: `user_id bigint primary key, tenant_id varchar(20), dept_id bigint, user_name varchar(60), nick_name varchar(60),
    user_type varchar(10), email varchar(50), phonenumber varchar(40), sex char(1), avatar bigint, password varchar(100),
    status char(1), del_flag char(1), remark varchar(500)`,
  sys_role: `role_id bigint primary key, tenant_id varchar(20), role_name varchar(30), role_key varchar(100), data_scope char(1),
    status char(1), del_flag char(1)`,
  sys_role_dept: 'role_id bigint, dept_id bigint',
  sys_user_role: 'user_id bigint, role_id bigint',
  sys_user_post: 'user_id bigint, post_id bigint',
  sys_post: `post_id bigint primary key, tenant_id varchar(20), post_code varchar(64), post_name varchar(50), post_sort int,
    status char(1)`,
});

/** Creates the tables and inserts the rows. `leader`: a name in early versions, the id of a user in later ones. */
export async function fillRuoyi(db: RuoyiDatabase, rows: Rows, leader: 'text' | 'id'): Promise<void> {
  const time = db.url.startsWith('mysql') ? 'datetime' : 'timestamp';
  const suffix = db.url.startsWith('mysql') ? ' character set utf8mb4' : '';
  for (const [table, columns] of Object.entries(tables(time, leader === 'text' ? 'varchar(60)' : 'bigint')))
    await db.run(`create table ${table} (${columns})${suffix}`);
  for (const [table, list] of Object.entries(rows)) {
    for (let at = 0; at < list.length; at += 1_000) await db.run(insertStatement(table, list.slice(at, at + 1_000)));
  }
}

export function insertStatement(table: string, rows: Record<string, Value>[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const values = rows.map((row) => `(${columns.map((column) => literal(row[column] ?? null)).join(', ')})`);
  return `insert into ${table} (${columns.join(', ')}) values ${values.join(', ')}`;
}

const literal = (value: Value): string =>
  value === null ? 'null' : typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;

export interface Generated {
  rows: Rows;
  /** The codes of the tenants that are imported. */
  codes: string[];
  /** How many departments and users of these tenants are not deleted. */
  departments: number;
  users: number;
}

/**
 * Generates tenants with departments and users. Each kind of defect occurs about once in fifty departments or users, but only
 * in a tenant with more than 30 departments or 20 users. `password` is the hash of all users.
 */
export function generateRuoyi(
  size: { tenants: number; departments: number; users: number },
  { seed, password, leader }: { seed: number; password: string; leader: 'text' | 'id' },
): Generated {
  const random = seededRandom(seed);
  let serial = 1_000;
  const next = () => snowflake(serial++);
  const rows: Rows = {
    sys_tenant_package: [
      {
        package_id: snowflake(1),
        package_name: '标准套餐',
        menu_ids: '1, 2,3,1893000000000000009',
        status: '0',
        del_flag: '0',
      },
      { package_id: snowflake(2), package_name: '旧套餐', menu_ids: '4', status: '0', del_flag: '2' },
    ],
    ...{ sys_tenant: [], sys_dept: [], sys_user: [], sys_role: [], sys_role_dept: [], sys_user_role: [] },
    ...{ sys_user_post: [], sys_post: [] },
  };
  const add = (table: string, row: Record<string, Value>) => void (rows[table] as Record<string, Value>[]).push(row);
  const codes = Array.from({ length: size.tenants }, (_, n) =>
    n === 0 ? '000000' : n === 3 ? 'ACME-3' : String(200_000 + n),
  );
  /** Tenants that are not imported: one is deleted, one is not even in sys_tenant, and one has no code. */
  const leftOut = ['299998', '299999', ''];
  let [departments, users] = [0, 0];
  const all = [...codes, ...leftOut];
  for (const [n, code] of all.entries()) {
    const isLeftOut = leftOut.includes(code);
    if (code !== '299999')
      add('sys_tenant', {
        ...{
          id: n === 0 ? '1' : next(),
          tenant_id: code,
          contact_user_name: `联系人${n}`,
          contact_phone: '13900000000',
        },
        ...{ company_name: `公司 ${code}`, license_number: `L${n}`, domain: n % 5 === 0 ? `t${n}.example.com` : null },
        ...{
          package_id: n % 7 === 6 ? snowflake(2) : snowflake(1),
          expire_time: n % 3 === 0 ? '2099-12-31 23:59:59' : null,
        },
        ...{
          account_count: n % 10 === 9 ? 1 : -1,
          status: n % 13 === 12 ? '1' : '0',
          del_flag: code === '299998' ? '1' : '0',
        },
      });
    const share = (total: number) =>
      isLeftOut ? 3 : Math.floor(total / codes.length) + (n < total % codes.length ? 1 : 0);
    const depts = generateDepartments(code, share(size.departments), random, next);
    const people = generateUsers(code, share(size.users), depts, { random, next, password });
    if (leader === 'id')
      for (const [k, dept] of depts.entries())
        dept.leader = k % 4 === 0 ? (people[k % people.length]?.user_id ?? null) : null;
    for (const dept of depts) add('sys_dept', dept);
    for (const person of people) add('sys_user', person);
    const [admin, common] = [next(), next()];
    const key = n === 0 ? 'superadmin' : 'admin';
    add('sys_role', {
      role_id: admin,
      tenant_id: code,
      role_name: '管理员',
      role_key: key,
      data_scope: '1',
      status: '0',
      del_flag: '0',
    });
    add('sys_role', {
      role_id: common,
      tenant_id: code,
      role_name: '普通角色',
      role_key: 'common',
      data_scope: '2',
      status: '0',
      del_flag: '0',
    });
    const post = next();
    add('sys_post', {
      post_id: post,
      tenant_id: code,
      post_code: 'se',
      post_name: '工程师',
      post_sort: 1,
      status: '0',
    });
    for (const dept of depts.slice(0, 2)) add('sys_role_dept', { role_id: common, dept_id: dept.dept_id as string });
    for (const [k, { user_id }] of people.entries()) {
      add('sys_user_role', { user_id: user_id as string, role_id: k === 0 ? admin : common });
      if (k % 3 === 0) add('sys_user_post', { user_id: user_id as string, post_id: post });
    }
    if (isLeftOut) continue;
    departments += depts.filter(({ del_flag }) => del_flag === '0').length;
    users += people.filter(({ del_flag }) => del_flag === '0').length;
  }
  return { rows, codes, departments, users };
}

type Random = ReturnType<typeof seededRandom>;

function generateDepartments(code: string, count: number, random: Random, next: () => string) {
  const depts: Record<string, Value>[] = [];
  for (let n = 0; n < count; n++) {
    const parent = n === 0 ? undefined : depts[random.below(n)];
    depts.push({
      ...{ dept_id: next(), tenant_id: code, parent_id: parent ? (parent.dept_id as string) : '0' },
      ancestors: parent ? `${parent.ancestors},${parent.dept_id}` : '0',
      ...{
        dept_name: `部门 ${n}`,
        dept_category: n % 40 === 39 ? 'X' : null,
        order_num: n % 9,
        leader: n % 4 === 0 ? `负责人${n}` : null,
      },
      ...{
        phone: '15888888888',
        email: n % 50 === 7 ? 'not an address' : 'ry@example.com',
        status: n % 31 === 30 ? '1' : '0',
      },
      del_flag: '0',
    });
  }
  const at = (n: number) => depts[n] as Record<string, Value>;
  for (let n = 20; n + 10 < count; n += 50) {
    at(n).del_flag = n % 100 === 20 ? '2' : '1';
    at(n + 1).parent_id = snowflake(999_999_999);
    at(n + 2).parent_id = at(n + 2).dept_id as string;
    at(n + 3).parent_id = at(n + 4).dept_id as string;
    at(n + 4).parent_id = at(n + 3).dept_id as string;
    at(n + 5).ancestors = '0,100,101';
    at(n + 6).parent_id = at(n).dept_id as string;
    at(n + 7).parent_id = at(n + 8).dept_id as string;
    at(n + 8).parent_id = at(n + 9).dept_id as string;
    at(n + 9).parent_id = at(n + 7).dept_id as string;
  }
  return depts;
}

function generateUsers(
  code: string,
  count: number,
  depts: Record<string, Value>[],
  { random, next, password }: { random: Random; next: () => string; password: string },
) {
  const people: Record<string, Value>[] = Array.from({ length: count }, (_, n) => ({
    ...{ user_id: code === '000000' && n === 0 ? '1' : next(), tenant_id: code },
    dept_id: depts.length > 0 ? (depts[random.below(depts.length)]?.dept_id as string) : null,
    ...{ user_name: `user${n}`, nick_name: `用户 ${n}`, user_type: 'sys_user', email: `u${n}@example.com` },
    ...{
      phonenumber: `1380000${String(n).padStart(4, '0')}`,
      sex: '0',
      avatar: null,
      password,
      status: n % 37 === 36 ? '1' : '0',
    },
    ...{ del_flag: '0', remark: null },
  }));
  const at = (n: number) => people[n] as Record<string, Value>;
  for (let n = 10; n + 10 < count; n += 50) {
    at(n).del_flag = '1';
    at(n + 1).user_name = `USER${n + 2}`;
    at(n + 3).user_name = ` 张 三 ${n}`;
    at(n + 4).user_name = 'system';
    at(n + 5).dept_id = snowflake(999_999_999);
    at(n + 6).password = 'e10adc3949ba59abbe56e057f20f883e';
    at(n + 7).email = 'no address';
    at(n + 8).phonenumber = '1'.repeat(40);
    at(n + 9).user_name = null;
  }
  return people;
}
