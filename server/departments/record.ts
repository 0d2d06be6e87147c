import Type from 'typebox';
import { Email, Int, Long, Status, Text } from '../http/fields.ts';
import { externalIdFields } from '../records/external-id.ts';
import { defineRecord, type Replacement, type StoredRow, type ValuesOf } from '../records/record.ts';

/** The one definition of a department's fields. The database function read_departments lists them in this order. */
export const department = defineRecord({
  deptName: { column: 'dept_name', type: 'text', schema: Text(100), default: '' },
  orderNum: { column: 'order_num', type: 'int', schema: Int(), default: 0 },
  leader: { column: 'leader', type: 'text', schema: Text(50), default: null },
  leaderId: {
    column: 'leader_id',
    type: 'bigint',
    schema: Type.Unsafe<number | string>({
      ...Long,
      description: 'The user who leads it. A null `leader` shows their name',
    }),
    default: null,
    keptIfOmitted: true,
  },
  phone: { column: 'phone', type: 'text', schema: Text(32), default: null },
  email: { column: 'email', type: 'text', schema: Email, default: null },
  status: { column: 'status', type: 'text', schema: Status, default: '0' as const },
  ...externalIdFields,
});

export type DepartmentValues = ValuesOf<typeof department.fields>;

/** The values of an update, of which some may stay as they are. */
export type DepartmentReplacement = Replacement<typeof department.fields>;

/** A department to be written. `parentId` null: top level. */
export type DepartmentRow = DepartmentValues & { parentId: string | null };

/** Returns the parent in a row that the ledger recorded; 0: top level. */
export const storedParent = (row: StoredRow): number => Number(row.parent_id ?? 0);

/** Returns the leader in a row that the ledger recorded. Returns null for a row without this column. */
export const storedLeader = (row: StoredRow): number | null => (row.leader_id == null ? null : Number(row.leader_id));

/** Returns the fields of a recorded row that a conflict check compares: without those that every write sets. */
export const storedContents = (row: StoredRow) => ({
  parentId: storedParent(row),
  delFlag: row.del_flag,
  ...department.storedFields(row),
});
