import type { Fragment, Tx } from '../../db/sql.ts';
import { below, countRows } from './list-queries.ts';
import { readDept, stampTree } from './queries.ts';

/** What other domains ask of departments. */

export const departmentExists = async (tx: Tx, tenantId: string, deptId: string): Promise<boolean> =>
  (await readDept(tx, tenantId, deptId, false)) !== undefined;

/** The ids of all departments below one, as a part of a statement: they may be many. */
export const idsBelow = (tx: Tx, tenantId: string, deptId: string): Fragment => below(tx, tenantId, deptId);

/** What exists, or can be read as deleted, has come to another place: the paths that were known are known no more. */
export const forgetPaths = (tx: Tx, tenantId: string) => stampTree(tx, tenantId);

/** All that exist. */
export const countDepartments = (tx: Tx, tenantId: string): Promise<number> =>
  countRows(tx, tenantId, EVERYTHING, { from: 'order' });

const EVERYTHING = { deptName: null, leader: null, status: null, parentId: null, underId: null };
