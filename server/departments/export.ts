import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import type { CursorPage } from '../http/pagination.ts';
import { SHEET_PAGE_SIZE, type SheetPage } from '../spreadsheets/sending.ts';
import type { Sheet } from '../spreadsheets/writing.ts';
import { DEPARTMENT_COLUMNS, type DepartmentSheetRow } from './columns.ts';
import { listDepartments } from './list.ts';
import { readExternalIds } from './list-queries.ts';
import type { DeptExportFilter, DeptRow } from './schema.ts';

export const departmentSheet: Sheet<DepartmentSheetRow> = {
  title: { zh: '部门', en: 'Departments' },
  fileName: 'departments',
  columns: DEPARTMENT_COLUMNS,
};

/**
 * Reads a page of an export. Its order is that of creation, which no update changes: a department that exists throughout the
 * export is in it exactly once, whatever is written meanwhile.
 */
export async function readSheetPage(
  tx: Tx,
  caller: Caller,
  filter: DeptExportFilter,
  cursor: string,
): Promise<SheetPage<DepartmentSheetRow>> {
  const paging = { sort: 'createTime', withPath: true, pageSize: SHEET_PAGE_SIZE, cursor } as const;
  const { rows, next } = (await listDepartments(tx, caller, { ...filter, ...paging })) as CursorPage<DeptRow>;
  const parents = await readExternalIds(tx, caller.tenantId, [
    ...new Set(rows.map(({ parentId }) => String(parentId))),
  ]);
  const byId = new Map(parents.map((parent) => [parent.deptId, parent]));
  // Omit the id of a parent from another system: it means nothing to the system that the department comes from.
  const parentExternalId = ({ parentId, source }: DeptRow) => {
    const parent = byId.get(parentId);
    return source !== null && parent?.source === source ? parent.externalId : null;
  };
  return {
    rows: rows.map((row) => ({ ...row, pathNames: row.pathNames ?? [], parentExternalId: parentExternalId(row) })),
    next,
  };
}
