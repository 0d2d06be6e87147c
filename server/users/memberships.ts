import type { Tx } from '../../db/sql.ts';
import { countByDept, deptsWithUsers } from './queries.ts';

/** What departments ask of users: which of these have any, as their main department or as a further one. */
export const departmentsWithUsers = (tx: Tx, tenantId: string, deptIds: string[]): Promise<string[]> =>
  deptsWithUsers(tx, tenantId, deptIds);

/** And how many; those that have none are left out. For a transaction that keeps to keys. */
export const countUsersIn = (tx: Tx, tenantId: string, deptIds: number[]): Promise<Map<number, number>> =>
  countByDept(tx, tenantId, deptIds);
