import { api } from '../api.ts';

type Row = Awaited<ReturnType<typeof api.listDepartments>>['data']['rows'][number];

interface Page {
  rows: Row[];
  next: string | undefined;
}

/**
 * Reads a page of departments whose name contains the text. The first page begins with those that have exactly this name:
 * in the order of the list they may come after hundreds of others.
 */
export async function searchDepartments(
  deptName: string,
  { pageSize, cursor = '' }: { pageSize: number; cursor?: string },
  signal: AbortSignal,
): Promise<Page> {
  const filter = { ...(deptName ? { deptName } : {}), withPath: true, pageSize };
  const [exact, page] = await Promise.all([
    cursor || !deptName ? undefined : api.listDepartments({ ...filter, exact: true, cursor: '' }, signal),
    api.listDepartments({ ...filter, cursor }, signal),
  ]);
  const next = ('next' in page.data && page.data.next) || undefined;
  return { rows: uniqueRows([...(exact?.data.rows ?? []), ...page.data.rows]), next };
}

/** Removes repeated departments: an exact match occurs again at its place in the list. */
export const uniqueRows = (rows: Row[]): Row[] => [...new Map(rows.map((row) => [row.deptId, row])).values()];
