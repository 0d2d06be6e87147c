import { bigintOf, raw, type Tx } from '../../../db/driver.ts';
import { batchOf, changesOfRecord } from '../../ledger/history.ts';
import { department } from '../record.ts';

/** Whether a department was disabled before a change. */
export const wasDisabled = async (tx: Tx, tenantId: string, deptId: string, changeId: number): Promise<boolean> => {
  const [row] = await tx<{ status: string | null }[]>`
    select ${raw(tx, department.storedText('status', 'c.after'))} as status from changes c
    where c.tenant_id = ${tenantId} and c.resource = 'department' and c.resource_id = ${bigintOf(deptId)}
      and c.change_id < ${changeId}
    order by c.change_id desc limit 1`;
  return row?.status === '1';
};

/** Reads a deleted department, and those that the same request deleted and that have not been restored since. */
export const readDeletedWith = (tx: Tx, tenantId: string, deptId: string) => tx<
  { deptId: string; parentId: string | null }[]
>`
  select dept_id::text as "deptId", parent_id::text as "parentId" from departments
  where tenant_id = ${tenantId} and dept_id = ${bigintOf(deptId)} and del_flag = '2'
  union
  select d.dept_id::text, d.parent_id::text
  from (
    select c.* from (values (${bigintOf(deptId)}::bigint)) s (id)
    cross join lateral (${changesOfRecord(tx, tenantId, 'department')} limit 1) c
  ) one
  cross join lateral (${batchOf(tx, tenantId)}) b
  cross join lateral (select b.resource_id as id) s
  cross join lateral (${changesOfRecord(tx, tenantId, 'department')} limit 1) l
  cross join lateral (
    select * from departments d where d.tenant_id = ${tenantId} and d.dept_id = s.id limit 1
  ) d
  where b.resource = 'department' and b.action = 'deleted' and l.change_id = b.change_id and d.del_flag = '2'`;
