import type { Operations } from '../../client/src/main.ts';
import { randomKey } from '../../client/src/request.ts';

/** A write that the service can revert. The console chooses its request id, which the ledger stores with its changes. */
export interface Write {
  requestId: string;
  /** The tenant whose ledger has the changes; undefined: the user's own. */
  tenantId: string | undefined;
}

const REVERTIBLE: ReadonlySet<string> = new Set<keyof Operations>([
  'updateDepartment',
  'patchDepartment',
  'orderDepartments',
  'deleteDepartments',
  'updateUser',
  'patchUser',
  'deleteUsers',
  'updateTenant',
  'patchTenant',
  'deleteTenant',
]);

interface Params {
  tenantId?: string;
  body?: { tenantId?: string; password?: string | null };
}

/** The request ids of the last revertible writes of this tab. */
const ownRequestIds = new Set<string>();
const MAX_REMEMBERED = 100;

/** Whether a change was made by a revertible write of this tab, which has already shown it. */
export const isOwnWrite = (requestId: string | null): boolean => requestId !== null && ownRequestIds.has(requestId);

/** Returns how a call can be undone, or undefined if it cannot: a new password is not reverted. */
export function startWrite(name: string, params: unknown): Write | undefined {
  const { tenantId, body } = (params ?? {}) as Params;
  if (!REVERTIBLE.has(name) || body?.password) return undefined;
  const requestId = randomKey();
  ownRequestIds.add(requestId);
  for (const id of ownRequestIds) if (ownRequestIds.size > MAX_REMEMBERED) ownRequestIds.delete(id);
  // Without the parameter, only the body of a user can name another tenant: departments are changed in the current
  // tenant, and its ledger also has the changes to the records of tenants below.
  return { requestId, tenantId: tenantId ?? (name.endsWith('User') ? body?.tenantId : undefined) };
}

interface Recording {
  writes: Write[];
  isShared: boolean;
}

const recordings = new Set<Recording>();

/**
 * Records the writes of one action of the user, until the returned function is called. That function returns no writes if
 * anything was written while another action was recorded too: it is not known which of the two a write belongs to.
 */
export function recordWrites(): () => Write[] {
  const recording: Recording = { writes: [], isShared: false };
  recordings.add(recording);
  return () => {
    recordings.delete(recording);
    return recording.isShared ? [] : recording.writes;
  };
}

/** Adds a write that has succeeded. */
export function addWrite(write: Write): void {
  for (const recording of recordings) {
    recording.writes.push(write);
    recording.isShared ||= recordings.size > 1;
  }
}
