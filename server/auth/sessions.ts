import type { Tx } from '../../db/sql.ts';
import { deleteSessionsOf } from './queries.ts';

/** Their tokens are refused from the next request on. */
export const endSessionsOf = (tx: Tx, tenantId: string, userIds: string[], exceptSession: string | null = null) =>
  deleteSessionsOf(tx, tenantId, userIds, exceptSession);
