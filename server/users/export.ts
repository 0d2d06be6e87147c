import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { readPathNames } from '../departments/path-names.ts';
import { SHEET_PAGE_SIZE, type SheetPage } from '../spreadsheets/sending.ts';
import type { Sheet } from '../spreadsheets/writing.ts';
import { USER_COLUMNS, type UserSheetRow } from './columns.ts';
import { searchOf } from './list.ts';
import { readPage } from './list-queries.ts';
import type { User, UserExportFilter } from './schema.ts';

export const userSheet: Sheet<UserSheetRow> = {
  title: { zh: '用户', en: 'Users' },
  fileName: 'users',
  columns: USER_COLUMNS,
};

/** Reads a page of an export, in the order of ids. `cursor` is the id of the last user of the page before. */
export async function readSheetPage(
  tx: Tx,
  { tenantId }: Caller,
  filter: UserExportFilter,
  cursor: string,
): Promise<SheetPage<UserSheetRow>> {
  const limit = SHEET_PAGE_SIZE;
  const order = { sort: 'userId', descending: false } as const;
  const found = await readPage(tx, tenantId, searchOf(tx, tenantId, filter), order, {
    limit: limit + 1,
    ...(cursor ? { after: { sort: order.sort, key: cursor, id: cursor } } : {}),
  });
  const users = found.slice(0, limit);
  const pathOf = await readPathNames(tx, tenantId, users.flatMap(departmentsOf));
  function* rows(): Generator<UserSheetRow, void> {
    for (const user of users) {
      const deptPath = user.deptId === null ? null : pathOf(user.deptId);
      yield { ...user, deptPath, deptPaths: user.deptIds.map(pathOf) };
    }
  }
  const last = users.at(-1);
  return { rows: rows(), next: last && found.length > limit ? String(last.userId) : null };
}

const departmentsOf = ({ deptId, deptIds }: User): number[] => (deptId === null ? deptIds : [deptId, ...deptIds]);
