import type { Tx } from '../../db/driver.ts';
import { ROOT_TENANT } from '../../db/tenant-scope.ts';
import { assumeTenantForWrite } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { isAcceptedHash } from '../auth/password-hash.ts';
import { assertNotCommon, assertStrongWithoutNames } from '../auth/password-policy.ts';
import { userKey } from '../auth/user-key.ts';
import { addDepartments, checkNewDepartments } from '../departments/bulk.ts';
import { findMissing, insertMemberships, lockAndFindMissing } from '../departments/members.ts';
import type { NewDepts } from '../departments/tree/schema.ts';
import { apiError } from '../http/errors.ts';
import { idOf, jsonIds } from '../http/fields.ts';
import type { Progress } from '../http/progress.ts';
import { RowErrors } from '../http/row-errors.ts';
import { createSlices } from '../http/slices.ts';
import { createRowValidator, invalid } from '../http/validation.ts';
import { assertAccountsLeft } from '../quotas/accounts.ts';
import { assertExternalId, assertNewExternalId, listExternalIds } from '../records/external-id.ts';
import { readTenantLimits } from './account-queries.ts';
import { assertWithinAccountLimit } from './accounts.ts';
import { findByExternalIds, findByKeys, insertUsers } from './bulk-queries.ts';
import { NewUser, type NewUserIds, type NewUsers } from './schema.ts';
import { assertUserNameAllowed } from './user-name.ts';
import { assertMayManage, fieldsOf, inChunks, namesOf } from './users.ts';

const validateRow = createRowValidator(NewUser);

/** A tenant's limit and names, which the rows are checked against. */
type Tenant = Awaited<ReturnType<typeof readTenantLimits>>;

/**
 * Checks all rows, before their passwords are hashed. Throws the errors of all rows together. What may change until the users are
 * written is checked again then, under locks.
 */
export async function checkNewUsers(
  tx: Tx,
  caller: Caller,
  input: NewUsers,
  { beyondLimit = false }: { beyondLimit?: boolean } = {},
): Promise<Tenant> {
  const newDepts = newDeptsOf(caller, input);
  if (newDepts) await checkNewDepartments(tx, caller, newDepts);
  const tenant = await readTenantLimits(tx, caller.tenantId);
  const errors = new RowErrors();
  await checkRows(caller, input, errors);
  if (!errors.isFull) {
    await checkNames(caller, tenant, input.users, errors);
    await checkAgainstStored(tx, caller.tenantId, input.users, errors, findMissing);
  }
  errors.throwIfAny();
  assertMayManage(caller, input.users.map(fieldsOf));
  if (!beyondLimit) await assertWithinAccountLimit(tx, caller.tenantId, tenant.accountLimit, input.users.length);
  return tenant;
}

/** Returns the departments of a request, if it has any. They need a permission of their own. */
function newDeptsOf(caller: Caller, { parentId = null, departments }: NewUsers): NewDepts | undefined {
  if (!departments || departments.length === 0) return undefined;
  if (!caller.permissions.has('dept:write')) throw apiError('NOT_ALLOWED');
  return { parentId, departments };
}

/** Checks each row by itself, and against the other rows. */
async function checkRows(caller: Caller, { departments, users }: NewUsers, errors: RowErrors): Promise<void> {
  const pause = createSlices();
  const deptRefs = new Set(departments?.map(({ ref }) => ref));
  const [refs, keys, externalIds] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const [n, row] of users.entries()) {
    await pause();
    if (errors.isFull) return;
    const path = `users[${n}]`;
    for (const error of validateRow(row, path)) errors.add(n, row?.ref, error);
    if (errors.has(n)) continue;
    const check = (assert: () => void) => errors.check(n, row.ref, assert);
    const key = userKey(row.userName);
    check(() => assertNew(refs, row.ref, `${path}.ref`));
    check(() => assertNew(keys, key, `${path}.userName`));
    check(() => assertExternalId(row, `${path}.`));
    check(() => assertNewExternalId(externalIds, row, `${path}.`));
    check(() => assertUserNameAllowed(row.userName, `${path}.userName`));
    check(() => assertPassword(caller, row, path));
    check(() => assertDeptRefs(deptRefs, row, path));
    check(() => {
      if (row.tenantId != null && row.tenantId !== caller.tenantId)
        throw apiError('OTHER_TENANT', { field: `${path}.tenantId` });
    });
  }
}

function assertNew(known: Set<string>, value: string, field: string): void {
  if (known.has(value)) throw invalid(field, 'repeated');
  known.add(value);
}

function assertPassword(caller: Caller, { password, passwordHash }: NewUser, path: string): void {
  if (passwordHash == null) {
    if (password == null) throw apiError('FIELD_REQUIRED', { field: `${path}.password` });
    assertNotCommon(password, `${path}.password`);
    return;
  }
  const field = `${path}.passwordHash`;
  // Nobody can check whether the password behind a hash is a good one, so only administrators of the root tenant may send one.
  if (caller.ownTenantId !== ROOT_TENANT) throw apiError('PASSWORD_HASH_FORBIDDEN', { field });
  if (password != null) throw invalid(field, 'notWithPassword');
  if (!isAcceptedHash(passwordHash)) throw invalid(field, 'passwordHash');
}

function assertDeptRefs(known: ReadonlySet<string>, { deptId, deptRef, deptRefs }: NewUser, path: string): void {
  if (deptId != null && deptRef != null) throw invalid(`${path}.deptRef`, 'notWithDeptId');
  if (deptRef != null && !known.has(deptRef)) throw invalid(`${path}.deptRef`, 'unknownRef');
  const unknown = (deptRefs ?? []).findIndex((ref) => !known.has(ref));
  if (unknown >= 0) throw invalid(`${path}.deptRefs[${unknown}]`, 'unknownRef');
}

/** Checks that no password consists mostly of names of its user or of the tenant. */
async function checkNames({ tenantId }: Caller, tenant: Tenant, users: NewUser[], errors: RowErrors): Promise<void> {
  const pause = createSlices();
  const ofTenant = [tenantId, ...namesOf(tenant)];
  for (const [n, row] of users.entries()) {
    await pause();
    if (errors.isFull) return;
    // A row with an error may be anything, even null.
    if (errors.has(n) || row.password == null) continue;
    const { ref, userName, nickName, password } = row;
    const names = [userName, nickName, ...ofTenant];
    errors.check(n, ref, () => assertStrongWithoutNames({ text: password }, names, `users[${n}].password`));
  }
}

/** Checks the rows against what is stored: names and external ids that are taken, and departments that do not exist. */
async function checkAgainstStored(
  tx: Tx,
  tenantId: string,
  users: NewUser[],
  errors: RowErrors,
  findMissingDepts: (tx: Tx, tenantId: string, deptIds: string[]) => Promise<string[]>,
): Promise<void> {
  const valid = users.flatMap((row, n) =>
    errors.has(n) ? [] : [{ n, row, key: userKey(row.userName), ids: idsOf(row) }],
  );
  const named = await findByKeys(
    tx,
    tenantId,
    valid.map(({ key }) => key),
  );
  const taken = new Set(named.map((row) => row.userKey));
  const missing = new Set(await findMissingDepts(tx, tenantId, [...new Set(valid.flatMap(({ ids }) => ids))]));
  const listed = listExternalIds(users.map((row, n) => (errors.has(n) ? {} : row)));
  for (const { index } of await findByExternalIds(tx, tenantId, listed)) {
    const error = apiError('EXTERNAL_ID_TAKEN', { field: `users[${index}].externalId` });
    errors.add(index, users[index]?.ref, error);
  }
  for (const { n, row, key, ids } of valid) {
    if (taken.has(key)) errors.add(n, row.ref, apiError('USER_NAME_TAKEN', { field: `users[${n}].userName` }));
    const lost = ids.filter((id) => missing.has(id));
    if (lost.length > 0) errors.add(n, row.ref, apiError('USER_DEPT_NOT_FOUND', { deptIds: jsonIds(lost) }));
  }
}

const idsOf = ({ deptId, deptIds }: NewUser): string[] => [
  ...(deptId == null ? [] : [idOf(deptId)]),
  ...(deptIds ?? []).map(idOf),
];

/**
 * How many passwords of a request are hashed, or wait to be, at the same time. Others who wait for a hash, such as logins, get
 * their turn after each of them.
 */
const HASHES_IN_FLIGHT = 2;

/** Returns the hash of each row: the one that was sent, or a new one. */
export async function hashPasswords(
  users: NewUser[],
  hash: (password: string) => Promise<string>,
  progress: Progress,
): Promise<string[]> {
  const hashes = users.map(({ passwordHash }) => passwordHash ?? '');
  const pending = users.flatMap(({ password, passwordHash }, n) =>
    passwordHash == null ? [{ n, password: password as string }] : [],
  );
  const total = pending.length;
  progress.report(0, total);
  let done = 0;
  let failed = false;
  const work = async () => {
    for (let next = pending.shift(); next && !failed; next = pending.shift()) {
      progress.throwIfAborted();
      hashes[next.n] = await hash(next.password);
      progress.report(++done, total);
    }
  };
  const stop = (error: unknown) => {
    failed = true;
    throw error;
  };
  await Promise.all(Array.from({ length: HASHES_IN_FLIGHT }, () => work().catch(stop)));
  return hashes;
}

/** Creates users, and departments that they may belong to: all of them or none. */
export async function createUsers(
  tx: Tx,
  caller: Caller,
  input: NewUsers,
  {
    tenantId: requested,
    checked,
    hashes,
    maxLevels,
    beyondLimit = false,
  }: {
    tenantId?: string;
    /** What the rows were checked against before their passwords were hashed. */
    checked: Tenant;
    hashes: string[];
    maxLevels: number;
    /** The import from RuoYi creates accounts that exist there, even if they exceed the limit. */
    beyondLimit?: boolean;
  },
): Promise<NewUserIds> {
  const { users } = input;
  const newDepts = newDeptsOf(caller, input);
  const { tenantId, ...tenant } = await assumeTenantForWrite(tx, caller, requested);
  const acting = { ...caller, tenantId };
  const errors = new RowErrors();
  if (namesOf(tenant).join() !== namesOf(checked).join()) await checkNames(acting, tenant, users, errors);
  // The parent of the new departments is locked together with the others: locks are taken in the order of ids.
  const parentIds = newDepts?.parentId == null ? [] : [idOf(newDepts.parentId)];
  await checkAgainstStored(tx, tenantId, users, errors, (tx, tenantId, deptIds) =>
    lockAndFindMissing(tx, tenantId, [...new Set([...parentIds, ...deptIds])]),
  );
  errors.throwIfAny();
  if (!beyondLimit) await assertWithinAccountLimit(tx, tenantId, tenant.accountLimit, users.length);
  // The quota `accounts` and the pools above it apply even to that import.
  await assertAccountsLeft(tx, caller, tenantId, users.length);
  const { deptIds } = newDepts ? await addDepartments(tx, acting, newDepts, { maxLevels }) : { deptIds: [] };
  const deptOf = new Map(newDepts?.departments.map(({ ref }, n) => [ref, String(deptIds[n])]));
  const rows = users.map((row, n) => ({
    userName: row.userName,
    userKey: userKey(row.userName),
    ...fieldsOf(row),
    passwordHash: hashes[n] as string,
    mustChangePassword: row.mustChangePassword ?? false,
    departments: departmentsOf(row, deptOf),
  }));
  // The caller may have lost permissions while the passwords were hashed.
  assertMayManage(caller, rows);
  const userIds: number[] = [];
  await inChunks(tx, rows, async (chunk) => {
    const ids = await insertUsers(tx, tenantId, caller.userName, chunk);
    await insertMemberships(
      tx,
      tenantId,
      chunk.map(({ departments }, n) => ({ userId: String(ids[n]), ...departments })),
    );
    userIds.push(...ids);
  });
  return { userIds, deptIds };
}

function departmentsOf(row: NewUser, deptOf: ReadonlyMap<string, string>) {
  const main = row.deptRef == null ? row.deptId : deptOf.get(row.deptRef);
  const deptId = main == null ? null : idOf(main);
  const further = [...(row.deptIds ?? []).map(idOf), ...(row.deptRefs ?? []).map((ref) => deptOf.get(ref) as string)];
  return { deptId, deptIds: [...new Set([...(deptId ? [deptId] : []), ...further])] };
}
