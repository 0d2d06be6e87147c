import { createTimeFormatter, type StoredRow } from '../records/record.ts';
import { type Leaders, showLeader } from './leaders.ts';
import { department, storedLeader, storedParent } from './record.ts';
import type { Dept } from './schema.ts';

export type StoredReader = (row: StoredRow, ancestors: string, leaders: Leaders) => Dept;

/** Returns a function that maps a row recorded by the ledger to a department. */
export function createStoredReader(timeZone: string): StoredReader {
  const formatTime = createTimeFormatter(timeZone);
  return (row, ancestors, leaders) => ({
    deptId: Number(row.dept_id),
    parentId: storedParent(row),
    ancestors,
    ...showLeader({ ...department.fromStored(row), leaderId: storedLeader(row) }, leaders),
    delFlag: row.del_flag as Dept['delFlag'],
    tenantId: String(row.tenant_id),
    createBy: String(row.create_by),
    createTime: formatTime(row.create_time) ?? '',
    updateBy: String(row.update_by ?? ''),
    updateTime: formatTime(row.update_time),
  });
}
