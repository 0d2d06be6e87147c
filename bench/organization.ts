import type { Sql } from '../db/sql.ts';

/** Ten children below each department: a million of them have seven levels. */
const CHILDREN = 10;

/** The n-th department, from 0, has the id `firstId + n`; its parent's number follows from its own. */
const parentOf = (n: number): number => (n < CHILDREN ? -1 : Math.floor(n / CHILDREN) - 1);

export function ancestorsOf(firstId: number, deptId: number): string {
  let path = '';
  for (let n = parentOf(deptId - firstId); n >= 0; n = parentOf(n)) path = `,${firstId + n}${path}`;
  return `0${path}`;
}

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
    select ${tenantId}, ${firstId}::bigint + n, case when n >= ${CHILDREN} then ${firstId}::bigint + n / ${CHILDREN} - 1 end,
      '研发部 ' || n, n % ${CHILDREN}, '张三', '13800000000', 'rd' || n || '@example.com', 'bench'
    from generate_series(0, ${count}::bigint - 1) n`;
  await superuser`reset session_replication_role`;
  await superuser`select setval('banyan.dept_serial', ${firstId + count})`;
  await superuser`vacuum analyze banyan.departments`;
}
