import type { Sql } from '../db/driver.ts';

/** A tenant's tree has one root, and each department has ten children: a million departments have seven levels. */
const CHILDREN = 10;

/** The n-th department, from 0, has the id `firstId + n`. Returns the number of its parent, or -1 for the root. */
const parentOf = (n: number): number => (n === 0 ? -1 : Math.floor((n - 1) / CHILDREN));

export function ancestorsOf(firstId: number, deptId: number): string {
  let path = '';
  for (let n = parentOf(deptId - firstId); n >= 0; n = parentOf(n)) path = `,${firstId + n}${path}`;
  return `0${path}`;
}

export const parentIdOf = (firstId: number, deptId: number): number => firstId + parentOf(deptId - firstId);

/** Returns the deepest department that is reached through first children. */
export function deepestDescendant(firstId: number, count: number, deptId: number): number {
  let n = deptId - firstId;
  while (n * CHILDREN + 1 < count) n = n * CHILDREN + 1;
  return firstId + n;
}

export const emailOf = (n: number): string => `rd${n}@example.com`;

/** Returns the fields with which `fillTenant` creates the n-th department. */
export const fieldsOf = (n: number) => ({
  deptName: `研发部 ${n}`,
  orderNum: n % CHILDREN,
  leader: '张三',
  phone: '13800000000',
  email: emailOf(n),
});

/** Inserts departments into a tenant directly in the database, as PostgreSQL's superuser. */
export async function fillTenant(
  superuser: Sql,
  tenantId: string,
  firstId: number,
  count: number,
  { withLedger = false } = {},
): Promise<void> {
  // Skip the ledger's triggers by default: a million changes take long to write and are rarely needed.
  if (!withLedger) await superuser`set session_replication_role = replica`;
  await superuser`
    insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, order_num, leader, phone, email, create_by)
    select ${tenantId}, ${firstId}::bigint + n, case when n > 0 then ${firstId}::bigint + (n - 1) / ${CHILDREN} end,
      '研发部 ' || n, n % ${CHILDREN}, '张三', '13800000000', 'rd' || n || '@example.com', 'bench'
    from generate_series(0, ${count}::bigint - 1) n`;
  await superuser`reset session_replication_role`;
  await superuser`select setval('banyan.dept_serial', ${firstId + count})`;
  await superuser`vacuum analyze banyan.departments`;
}
