import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { refuse } from '../http/refusals.ts';
import { everWas, keepToIndexes, type LifeRow, readLife } from './queries.ts';
import type { LifeEntry, LifeFilter } from './schema.ts';

/** All that was done to a department, also to one that is deleted. */
export async function readDepartmentLife(
  tx: Tx,
  { tenantId }: Caller,
  deptId: string,
  { sort = '-time', limit = 50, cursor }: LifeFilter,
): Promise<{ rows: LifeEntry[]; next: string | null }> {
  await keepToIndexes(tx);
  if (!(await everWas(tx, tenantId, deptId))) throw refuse('DEPT_NOT_FOUND');
  const oldestFirst = sort === 'time';
  const rows = await readLife(tx, tenantId, deptId, { oldestFirst, beyond: cursor || undefined, limit: limit + 1 });
  const page = rows.slice(0, limit);
  return {
    rows: page.map((row) => ({ ...row, changed: changedIn(row) })),
    next: rows.length > limit ? String(page.at(-1)?.id) : null,
  };
}

/** They change with everything, and say nothing of it. */
const STAMPS = ['updateBy', 'updateTime'];

function changedIn({ before, after }: LifeRow): string[] {
  if (!before || !after) return [];
  const was = new Map(Object.entries(before));
  return Object.entries(after).flatMap(([field, value]) =>
    was.get(field) === value || STAMPS.includes(field) ? [] : field,
  );
}
