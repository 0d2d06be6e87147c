import type { Tx } from '../../db/sql.ts';
import { deptsWithUsers } from './queries.ts';

/** What departments ask of users: which of these have any, as their main department or as a further one. */
export const departmentsWithUsers = (tx: Tx, tenantId: string, deptIds: string[]): Promise<string[]> =>
  deptsWithUsers(tx, tenantId, deptIds);
