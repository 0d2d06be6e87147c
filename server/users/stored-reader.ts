import { createTimeFormatter, type StoredRow } from '../records/record.ts';
import { rolesOf, storedDepartments, user } from './record.ts';
import type { User } from './schema.ts';

/** Returns a function that maps a row recorded by the ledger to a user. */
export function createStoredReader(timeZone: string): (row: StoredRow) => User {
  const formatTime = createTimeFormatter(timeZone);
  return (row) => ({
    userId: Number(row.user_id),
    tenantId: String(row.tenant_id),
    userName: String(row.user_name),
    ...user.fromStored(row),
    ...storedDepartments(row),
    mustChangePassword: row.must_change_password === true,
    roles: rolesOf(row.administrator === true),
    createBy: String(row.create_by),
    createTime: formatTime(row.create_time) ?? '',
    updateBy: String(row.update_by ?? ''),
    updateTime: formatTime(row.update_time),
  });
}
