import type { Sql } from '../db/sql.ts';

/** One at the top, ten children below each: a million of them have seven levels. */
const CHILDREN = 10;

/** The n-th department, from 0, has the id `firstId + n`; its parent's number follows from its own. */
const parentOf = (n: number): number => (n === 0 ? -1 : Math.floor((n - 1) / CHILDREN));

export function ancestorsOf(firstId: number, deptId: number): string {
  let path = '';
  for (let n = parentOf(deptId - firstId); n >= 0; n = parentOf(n)) path = `,${firstId + n}${path}`;
  return `0${path}`;
}

export const parentIdOf = (firstId: number, deptId: number): number => firstId + parentOf(deptId - firstId);

/** The deepest in the first line below a department. */
export function deepestBelow(firstId: number, count: number, deptId: number): number {
  let n = deptId - firstId;
  while (n * CHILDREN + 1 < count) n = n * CHILDREN + 1;
  return firstId + n;
}

export const emailOf = (n: number): string => `rd${n}@example.com`;

/** What a department is made with, for who writes it again. */
export const fieldsOf = (n: number) => ({
  deptName: `研发部 ${n}`,
  orderNum: n % CHILDREN,
  leader: '张三',
  phone: '13800000000',
  email: emailOf(n),
});

/** Fills a tenant with departments, around the service, as PostgreSQL's superuser. */
export async function fillTenant(
  superuser: Sql,
  tenantId: string,
  firstId: number,
  count: number,
  { noted = false } = {},
): Promise<void> {
  // Unless they are to be noted: a million rows of the ledger would take their time, and mostly tell nothing.
  if (!noted) await superuser`set session_replication_role = replica`;
  await superuser`
    insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, order_num, leader, phone, email, create_by)
    select ${tenantId}, ${firstId}::bigint + n, case when n > 0 then ${firstId}::bigint + (n - 1) / ${CHILDREN} end,
      '研发部 ' || n, n % ${CHILDREN}, '张三', '13800000000', 'rd' || n || '@example.com', 'bench'
    from generate_series(0, ${count}::bigint - 1) n`;
  await superuser`reset session_replication_role`;
  await superuser`select setval('banyan.dept_serial', ${firstId + count})`;
  await superuser`vacuum analyze banyan.departments`;
}
