import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import type { CursorPage } from '../http/pagination.ts';
import { SHEET_PAGE_SIZE, type SheetPage } from '../spreadsheets/sending.ts';
import type { Sheet } from '../spreadsheets/writing.ts';
import { TENANT_COLUMNS } from './columns.ts';
import type { Tenant, TenantExportFilter } from './schema.ts';
import { listTenants } from './tenants.ts';

export const tenantSheet: Sheet<Tenant> = {
  title: { zh: '租户', en: 'Tenants' },
  fileName: 'tenants',
  columns: TENANT_COLUMNS,
};

/** Reads a page of an export, in the order of ids. */
export async function readSheetPage(
  tx: Tx,
  caller: Caller,
  filter: TenantExportFilter,
  cursor: string,
): Promise<SheetPage<Tenant>> {
  const page = await listTenants(tx, caller, { ...filter, fields: 'ruleBo', pageSize: SHEET_PAGE_SIZE, cursor });
  // With `cursor` the list has a cursor page, and with `fields: 'ruleBo'` every row has its rules.
  return page as CursorPage<Tenant>;
}
