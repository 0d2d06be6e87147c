import type { Tx } from '../../db/driver.ts';
import { lockTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { generateKey, hashKey, shownPrefix } from '../auth/key-format.ts';
import type { Permission } from '../auth/permissions.ts';
import { apiError } from '../http/errors.ts';
import { assertSettingsEtag, etagOfParts, type IfMatch, type Tagged } from '../http/etag.ts';
import { idOf, pageOf, type Rows } from '../http/fields.ts';
import { type CursorPage, decodeCursor, toCursorPage } from '../http/pagination.ts';
import {
  countKeys,
  countMatching,
  expireSecrets,
  insertKey,
  insertSecret,
  type KeyFields,
  listKeysAfter,
  listKeys as listRows,
  lockKey,
  markDeleted,
  readKey as readRow,
  updatePrefix,
  updateKey as updateRow,
} from './queries.ts';
import type { Key, KeyFilter, KeyInput, KeyRotation, KeyUpdate } from './schema.ts';

const MAX_KEYS = 100;
const DEFAULT_GRACE_SECONDS = 86_400;
/** A key has at most this many secrets while rotations follow each other within their grace periods. */
const MAX_SECRETS = 10;

/** A new secret of a key. It must not be stored, logged or returned a second time. */
export interface NewSecret {
  keyId: number;
  key: string;
}

export async function addKey(tx: Tx, caller: Caller, input: KeyInput): Promise<NewSecret> {
  const { tenantId, userName: by } = caller;
  const below = input.below ?? false;
  assertMayGrant(caller, input.permissions, below);
  // Lock before counting: concurrent requests would otherwise each see room for one more.
  await lockTenant(tx, tenantId);
  if ((await countKeys(tx, tenantId)) >= MAX_KEYS) throw apiError('TOO_MANY_KEYS', { limit: MAX_KEYS });
  const key = generateKey();
  const keyId = await insertKey(tx, tenantId, fieldsOf(input, '0'), { below, prefix: shownPrefix(key), by });
  await insertSecret(tx, tenantId, keyId, hashKey(key));
  return { keyId, key };
}

export async function listKeys(tx: Tx, { tenantId }: Caller, filter: KeyFilter): Promise<Rows<Key> | CursorPage<Key>> {
  const page = pageOf(filter);
  if (filter.cursor === undefined) {
    const [rows, total] = await Promise.all([
      listRows(tx, tenantId, filter, page),
      countMatching(tx, tenantId, filter),
    ]);
    return { rows, total };
  }
  const after = filter.cursor && decodeCursor(filter.cursor, 'keyId', (key) => key === '');
  const rows = await listKeysAfter(tx, tenantId, filter, after ? after.id : '0', page.limit + 1);
  return toCursorPage([...rows], page.limit, ({ keyId }) => ({ sort: 'keyId', key: '', id: String(keyId) }));
}

export async function readKey(tx: Tx, { tenantId }: Caller, id: string): Promise<Tagged<Key>> {
  const key = await readRow(tx, tenantId, id);
  if (!key) throw apiError('KEY_NOT_FOUND');
  return { data: key, etag: keyEtag(key) };
}

/** Replaces what callers set, except `below`: which tenants a key may act in is decided when it is created. */
export async function updateKey(tx: Tx, caller: Caller, input: KeyUpdate, ifMatch: IfMatch): Promise<void> {
  const { keyId, below } = await findAndLock(tx, caller, idOf(input.keyId), ifMatch);
  assertMayGrant(caller, input.permissions, below);
  await updateRow(tx, caller.tenantId, keyId, fieldsOf(input, input.status ?? '0'), caller.userName);
}

/**
 * Generates a new secret for a key. Previous ones stay valid for their grace period, which a later rotation can only shorten: a
 * grace period of 0 ends all of them immediately.
 */
export async function rotateKey(tx: Tx, caller: Caller, id: string, { graceSeconds }: KeyRotation): Promise<NewSecret> {
  const { tenantId, userName } = caller;
  const { keyId, permissions, below } = await findAndLock(tx, caller, id);
  // The caller can use the key afterwards.
  assertMayGrant(caller, permissions as Permission[], below);
  const key = generateKey();
  await expireSecrets(tx, tenantId, keyId, {
    graceSeconds: graceSeconds ?? DEFAULT_GRACE_SECONDS,
    maxSecrets: MAX_SECRETS - 1,
  });
  await insertSecret(tx, tenantId, keyId, hashKey(key));
  await updatePrefix(tx, tenantId, keyId, shownPrefix(key), userName);
  return { keyId, key };
}

export async function removeKey(tx: Tx, caller: Caller, id: string, ifMatch: IfMatch): Promise<void> {
  const { keyId } = await findAndLock(tx, caller, id, ifMatch);
  await markDeleted(tx, caller.tenantId, keyId, caller.userName);
}

async function findAndLock(tx: Tx, { tenantId }: Caller, id: string, ifMatch?: IfMatch): Promise<Key> {
  const key = await lockKey(tx, tenantId, id);
  if (!key) throw apiError('KEY_NOT_FOUND');
  assertSettingsEtag(ifMatch, keyEtag(key));
  return key;
}

/** Throws unless the caller has all of these permissions themselves. */
function assertMayGrant(caller: Caller, permissions: readonly Permission[], below: boolean): void {
  const missing: string[] = permissions.filter((permission) => !caller.permissions.has(permission));
  if (below && !caller.canActInDescendants) missing.push('below');
  if (missing.length > 0) throw apiError('PERMISSION_NOT_HELD', { permissions: [...new Set(missing)] });
}

/** The ETag of a key. Its last use is in the second part, so that a use does not prevent an update. */
const keyEtag = ({ lastUsedTime, lastUsedAddress, ...settings }: Key): string =>
  etagOfParts(settings, [lastUsedTime, lastUsedAddress]);

const fieldsOf = (input: KeyInput | KeyUpdate, status: '0' | '1'): KeyFields => ({
  keyName: input.keyName,
  permissions: [...new Set(input.permissions)],
  addresses: input.addresses ?? null,
  requestsPerMinute: input.requestsPerMinute ?? null,
  expiresTime: input.expiresTime ?? null,
  status,
});
