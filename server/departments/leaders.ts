import type { Tx } from '../../db/driver.ts';
import { lockTenant } from '../access/tenant-scope.ts';
import { apiError } from '../http/errors.ts';
import { idOf, jsonId } from '../http/fields.ts';
import { lockLeadersForShare } from './queries.ts';

/** The users who led departments at a point in time, by id: their name, or null if they were deleted. */
export type Leaders = ReadonlyMap<number, string | null>;

/**
 * Shows the leader of a department as a read does: the text, or else the name of the user. A deleted user is not shown. The id
 * of a user without a row in the ledger is left as recorded.
 */
export function showLeader<T extends { leader: string | null; leaderId: number | null }>(dept: T, leaders: Leaders): T {
  const name = dept.leaderId === null ? undefined : leaders.get(dept.leaderId);
  if (name === undefined) return dept;
  return name === null ? { ...dept, leaderId: null } : { ...dept, leader: dept.leader ?? name };
}

interface LeaderFields {
  leader?: string | null | undefined;
  leaderId?: number | string | null | undefined;
}

/**
 * Locks the user who is to lead a department, so that they are not deleted before it is written. Call it before any department
 * is locked: it also locks the tenant, which comes first in the lock order.
 */
export async function lockLeader<T extends LeaderFields>(tx: Tx, tenantId: string, input: T): Promise<T> {
  const [locked] = await lockLeaders(tx, tenantId, [input], () => 'leaderId');
  return locked as T;
}

/** The same for several departments. `fieldOf` names the field of an entry in an error. */
export async function lockLeaders<T extends LeaderFields>(
  tx: Tx,
  tenantId: string,
  inputs: readonly T[],
  fieldOf: (n: number) => string,
): Promise<T[]> {
  const ids = new Set(inputs.flatMap(({ leaderId }) => (leaderId == null ? [] : idOf(leaderId))));
  if (ids.size === 0) return [...inputs];
  await lockTenant(tx, tenantId);
  const users = await lockLeadersForShare(tx, tenantId, [...ids]);
  const names = new Map(users.map(({ userId, name }) => [String(userId), name]));
  return inputs.map((input, n) => {
    if (input.leaderId == null) return input;
    const id = idOf(input.leaderId);
    const name = names.get(id);
    if (name === undefined) throw apiError('LEADER_NOT_FOUND', { leaderId: jsonId(id), field: fieldOf(n) });
    // The name itself is not stored: reads show the current one.
    return { ...input, leaderId: Number(id), ...(input.leader === name ? { leader: null } : {}) };
  });
}
