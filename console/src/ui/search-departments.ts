import { api } from '../api.ts';

type Row = Awaited<ReturnType<typeof api.listDepartments>>['data']['rows'][number];

interface Page {
  rows: Row[];
  next: string | undefined;
}

/**
 * Reads a page of departments whose name contains the text. The first page begins with those that have exactly this name:
 * in the order of the list they may come after hundreds of others. `cursor` is `next` of the page before. With `asOf`, it is
 * the number of a page: lists of the past have no cursors.
 */
export async function searchDepartments(
  deptName: string,
  { pageSize, cursor = '', asOf }: { pageSize: number; cursor?: string; asOf?: string | undefined },
  signal: AbortSignal,
): Promise<Page> {
  const pageNum = Number(cursor) || 1;
  const position = asOf ? { asOf, pageNum } : { cursor };
  const filter = { ...(deptName ? { deptName } : {}), withPath: true, pageSize, ...position };
  const [exact, page] = await Promise.all([
    cursor || !deptName ? undefined : api.listDepartments({ ...filter, exact: true }, signal),
    api.listDepartments(filter, signal),
  ]);
  const { rows, total = 0 } = page.data;
  const next = asOf ? pageNum * pageSize < total && String(pageNum + 1) : page.data.next;
  return { rows: uniqueRows([...(exact?.data.rows ?? []), ...rows]), next: next || undefined };
}

/** Removes repeated departments: an exact match occurs again at its place in the list. */
export const uniqueRows = (rows: Row[]): Row[] => [...new Map(rows.map((row) => [row.deptId, row])).values()];
