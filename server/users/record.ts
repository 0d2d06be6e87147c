import { Email, Status, Text } from '../http/fields.ts';
import { externalIdFields } from '../records/external-id.ts';
import { defineRecord, type Replacement, type StoredRow, type ValuesOf } from '../records/record.ts';

/** The one definition of a user's plain fields. The name, departments and roles are handled separately. */
export const user = defineRecord({
  nickName: { column: 'nick_name', type: 'text', schema: Text(50), default: null },
  position: { column: 'position', type: 'text', schema: Text(100), default: null, keptIfOmitted: true },
  email: { column: 'email', type: 'text', schema: Email, default: null },
  phone: { column: 'phone', type: 'text', schema: Text(32), default: null },
  status: { column: 'status', type: 'text', schema: Status, default: '0' as const },
  ...externalIdFields,
});

export type UserValues = ValuesOf<typeof user.fields>;
export type UserReplacement = Replacement<typeof user.fields>;

export const rolesOf = (administrator: boolean): ('admin' | 'member')[] => [administrator ? 'admin' : 'member'];

/** Returns the departments in a row that the ledger recorded. */
export const storedDepartments = (row: StoredRow): { deptId: number | null; deptIds: number[] } => ({
  deptId: row.dept_id === null ? null : Number(row.dept_id),
  deptIds: (row.dept_ids as number[] | undefined) ?? [],
});

/** Returns the fields of a recorded row that a conflict check compares: without times and authors. */
export const storedContents = (row: StoredRow) => ({
  userName: row.user_name,
  ...user.storedFields(row),
  ...storedDepartments(row),
  administrator: row.administrator,
  delFlag: row.del_flag,
});
