import { openSourceDatabase, type SourceDatabase, type SourceRow } from '../../db/source-database.ts';
import { StartupError } from '../../db/startup-error.ts';

/** The tables of RuoYi-Vue-Plus 5.x that are read, and their columns. */
const TABLES = {
  sys_tenant: [
    ...['id', 'tenant_id', 'contact_user_name', 'contact_phone', 'company_name', 'license_number', 'address', 'intro'],
    ...['domain', 'remark', 'package_id', 'expire_time', 'account_count', 'status', 'del_flag'],
  ],
  sys_tenant_package: ['package_id', 'package_name', 'menu_ids', 'status', 'del_flag'],
  sys_dept: [
    ...['dept_id', 'tenant_id', 'parent_id', 'ancestors', 'dept_name', 'dept_category', 'order_num', 'leader', 'phone'],
    ...['email', 'status', 'del_flag'],
  ],
  sys_user: [
    ...['user_id', 'tenant_id', 'dept_id', 'user_name', 'nick_name', 'user_type', 'email', 'phonenumber', 'sex'],
    ...['avatar', 'password', 'status', 'del_flag', 'remark'],
  ],
  sys_role: ['role_id', 'tenant_id', 'role_name', 'role_key', 'data_scope', 'status', 'del_flag'],
  sys_role_dept: ['role_id', 'dept_id'],
  sys_user_role: ['user_id', 'role_id'],
  sys_user_post: ['user_id', 'post_id'],
  sys_post: ['post_id', 'tenant_id', 'post_code', 'post_name', 'post_sort', 'status'],
} as const;

type Table = keyof typeof TABLES;
export type Row<T extends Table> = SourceRow<(typeof TABLES)[T][number]>;

/** Without these columns, the database is not that of a RuoYi-Vue-Plus with tenants. */
const REQUIRED: [Table, string[]][] = [
  ['sys_tenant', ['tenant_id', 'company_name', 'del_flag']],
  ['sys_dept', ['dept_id', 'tenant_id', 'parent_id', 'dept_name', 'del_flag']],
  ['sys_user', ['user_id', 'tenant_id', 'dept_id', 'user_name', 'password', 'del_flag']],
];

/** All rows of a RuoYi database at one moment. Every value is text. */
export type Source = { [T in Table]: Row<T>[] } & {
  /** Later versions of 5.x store the id of a user in `sys_dept.leader`, earlier ones a name. */
  leaderIsUserId: boolean;
  /** Whether the tables of posts exist. */
  hasPosts: boolean;
};

/** Reads everything in one read-only snapshot. The connection is closed before anything is written to Banyan. */
export async function readSource(url: string): Promise<Source> {
  const database = await openSourceDatabase(url);
  try {
    assertRuoyi(database);
    const rows: [string, SourceRow[]][] = [];
    for (const [table, columns] of Object.entries(TABLES)) rows.push([table, await database.select(table, columns)]);
    const leaderIsUserId = /int/.test(database.tables.get('sys_dept')?.get('leader') ?? '');
    const hasPosts = database.tables.has('sys_post') && database.tables.has('sys_user_post');
    return { ...(Object.fromEntries(rows) as { [T in Table]: Row<T>[] }), leaderIsUserId, hasPosts };
  } finally {
    await database.close();
  }
}

function assertRuoyi({ tables }: SourceDatabase): void {
  const missing = REQUIRED.flatMap(([table, columns]) => {
    const known = tables.get(table);
    return known ? columns.filter((name) => !known.has(name)).map((name) => `${table}.${name}`) : [table];
  });
  if (missing.length === 0) return;
  throw new StartupError(
    `This is not a database of RuoYi-Vue-Plus 5.x with tenants: it lacks ${missing.join(', ')}. ` +
      'Check the name of the database in the URL, and for PostgreSQL the search_path of the user.',
  );
}
