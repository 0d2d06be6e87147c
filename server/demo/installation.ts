import { setTime } from '../../db/backdating.ts';
import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/driver.ts';
import { writeInTenant } from '../../db/tenant-scope.ts';
import { type Caller, operatorOf } from '../auth/caller.ts';
import type { Calendar } from './calendar.ts';
import type { Language } from './organization.ts';
import type { Random } from './random.ts';

/** The user whom the ledger names as the author of a change. */
export interface Actor {
  tenantId: string;
  userName: string;
  userId: string;
}

/** A tenant of the demonstration data, as far as it has been created. */
export interface CreatedCompany {
  tenantId: string;
  /** The internal id of the tenant. */
  id: string;
  /** The author of its changes: its first administrator or, before they exist, that of the head office. */
  actor: Actor;
  /** By their indexes in the plan. */
  deptIds: string[];
  userIds: string[];
}

/** A planned change. Those of the whole group run in the order of their times. */
export interface Event {
  time: Date;
  run(time: Date): Promise<void>;
}

/** The installation that is filled, and what its records have in common. */
export interface Installation {
  db: Database;
  language: Language;
  limits: { maxLevels: number; tenantLevels: number };
  /** The password of all accounts, and its hash: hashing it for each of them would take minutes. */
  password: { text: string; hash: string };
}

/** Runs a transaction in a tenant at a time in the past, as a user of this tenant or of an ancestor. */
export function writeAt<T>(
  { db }: Installation,
  { actor, time, tenantId }: { actor: Actor; time: Date; tenantId: string },
  work: (tx: Tx, caller: Caller) => Promise<T>,
): Promise<T> {
  const { permissions } = operatorOf(tenantId, 'Demo data');
  const caller: Caller = {
    ...{ tenantId, ownTenantId: actor.tenantId, userName: actor.userName, permissions, canActInDescendants: true },
    ...{ userId: actor.userId, sessionId: '', keyId: undefined },
  };
  // The address depends on the user, and its network on their tenant, as if each tenant had an office.
  const address = `10.${20 + (Number(actor.tenantId) % 200)}.3.${10 + (Number(actor.userId) % 200)}`;
  const origin = { tenantId: actor.tenantId, userId: actor.userId, address, requestId: `demo-${time.getTime()}` };
  const atTime = async (tx: Tx) => {
    await setTime(tx, time);
    return work(tx, caller);
  };
  return writeInTenant(db, tenantId, atTime, { origin });
}

/** What the plans of a tenant's departments and people share. */
export interface PlanContext {
  calendar: Calendar;
  random: Random;
  founded: Date;
  /** How many days ago the last change was made. */
  lastDaysAgo: number;
}
