import { api } from '../api.ts';

type Row = Awaited<ReturnType<typeof api.listDepartments>>['data']['rows'][number];

interface Page {
  rows: Row[];
  next: string | undefined;
}

/**
 * Reads a page of departments whose name contains the text. The first page begins with those that have exactly this name:
 * in the order of the list they may come after hundreds of others. `asOf` reads the first page of that time, whose
 * lists have no cursors.
 */
export async function searchDepartments(
  deptName: string,
  { pageSize, cursor = '', asOf }: { pageSize: number; cursor?: string; asOf?: string | undefined },
  signal: AbortSignal,
): Promise<Page> {
  const filter = { ...(deptName ? { deptName } : {}), withPath: true, pageSize, ...(asOf ? { asOf } : { cursor }) };
  const [exact, page] = await Promise.all([
    cursor || !deptName ? undefined : api.listDepartments({ ...filter, exact: true }, signal),
    api.listDepartments(filter, signal),
  ]);
  const next = ('next' in page.data && page.data.next) || undefined;
  return { rows: uniqueRows([...(exact?.data.rows ?? []), ...page.data.rows]), next };
}

/** Removes repeated departments: an exact match occurs again at its place in the list. */
export const uniqueRows = (rows: Row[]): Row[] => [...new Map(rows.map((row) => [row.deptId, row])).values()];
