import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import type { Config } from '../../config.ts';
import type { LedgerResource, RecordedRow } from '../../ledger/resources.ts';
import type { Leaders } from '../leaders.ts';
import { storedContents, storedParent } from '../record.ts';
import { createStoredReader } from '../stored-reader.ts';
import { readLeadersOf } from './leaders.ts';
import { readPathsAfter } from './queries.ts';
import { revertDepartments } from './revert.ts';

/** Longer paths are shown as '' in changes: in a tree with hundreds of levels, a feed would contain little else. */
const MAX_PATH_LENGTH = 2_000;

/** Shows and reverts departments for the ledger. */
export function departmentResource({ timeZone, departmentLevels: maxLevels }: Config): LedgerResource {
  const show = createStoredReader(timeZone);
  return {
    resource: 'department',
    async show(tx, rows) {
      const paths = await readPaths(tx, rows);
      const leaders = await readLeadersOf(tx, rows);
      return rows.map(({ row }, n) => show(row, paths[n] as string, leaders[n] as Leaders));
    },
    contents: storedContents,
    revert: (tx, caller, ledger, reverts) => revertDepartments(tx, caller, ledger, reverts, { maxLevels }),
  };
}

/** Reads `ancestors` of each row, as it was after the change. */
async function readPaths(tx: Tx, rows: RecordedRow[]): Promise<string[]> {
  const paths = rows.map(() => '0');
  const byTenant = new Map<string, { n: number; deptId: number; changeId: number; time: string }[]>();
  for (const [n, { tenantId, changeId, time, row }] of rows.entries()) {
    const deptId = storedParent(row);
    if (deptId === 0) continue;
    const wanted = byTenant.get(tenantId) ?? [];
    wanted.push({ n, deptId, changeId, time });
    byTenant.set(tenantId, wanted);
  }
  if (byTenant.size === 0) return paths;
  await forceIndexScans(tx);
  // A page of an audit log may span many tenants. Most pages have changes of one tenant only.
  const found = [...byTenant].map(async ([tenantId, wanted]) => {
    const ancestors = await readPathsAfter(tx, tenantId, wanted);
    const parents = new Map<string, number>();
    for (const row of ancestors) if (row.deptId !== null) parents.set(`${row.deptId} ${row.until}`, row.parentId);
    for (const row of ancestors) {
      const target = row.deptId === null ? wanted[row.n - 1] : undefined;
      if (target) paths[target.n] = pathTo(target.deptId, (id) => parents.get(`${id} ${row.until}`));
    }
  });
  await Promise.all(found);
  return paths;
}

/** Returns '' for a path that is too long, or that has a gap because a department has no row. */
function pathTo(deptId: number, parentOf: (id: number) => number | undefined): string {
  const ids: number[] = [];
  let length = 1;
  for (let id: number | undefined = deptId; id !== 0; id = parentOf(id)) {
    if (id === undefined) return '';
    ids.push(id);
    length += String(id).length + 1;
    if (length > MAX_PATH_LENGTH) return '';
  }
  return [0, ...ids.reverse()].join(',');
}
