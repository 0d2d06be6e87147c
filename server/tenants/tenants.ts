import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Tx } from '../../db/driver.ts';
import { setTenant } from '../../db/tenant-scope.ts';
import { canSeeTenant, lockTenantTree } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import type { NewPassword } from '../auth/password-policy.ts';
import { apiError } from '../http/errors.ts';
import { assertEtag, etagOf, type IfMatch, type Tagged } from '../http/etag.ts';
import { isCalendarDate, pageOf, type Rows } from '../http/fields.ts';
import { assertNotRemoved, assertSameId, mergePatch } from '../http/merge-patch.ts';
import { type CursorPage, decodeCursor, toCursorPage } from '../http/pagination.ts';
import { MAX_RESPONSE_BYTES, readFitting } from '../http/response-size.ts';
import { invalid } from '../http/validation.ts';
import { assertAccountsFit, assertAccountsLeft } from '../quotas/accounts.ts';
import { lockQuotas, setUsed, warnAfterChange } from '../quotas/rules.ts';
import { countAccountsOf } from '../users/accounts.ts';
import { createFirstAdministrator } from '../users/users.ts';
import {
  countTenants,
  hasChildren,
  insertRootTenant,
  insertTenant,
  markDeleted,
  markRestored,
  moveTenant,
  readAnyById,
  readByCode,
  readById,
  readLevels,
  readNames,
  readPage,
  readPath,
  readSubtree,
  type TenantSearch,
  tenantExists,
  updateQuotaTotal,
  updateTenantFields,
} from './queries.ts';
import { type ListedRow, type TenantFields, type TenantRow, tenant as tenantRecord } from './record.ts';
import {
  HIDDEN_QUOTAS,
  type ListedTenant,
  LONG_TEXT,
  MAX_DEPTH,
  MAX_TREE_SIZE,
  QUOTAS,
  RULES,
  type Tenant,
  type TenantFilter,
  type TenantInput,
  type TenantNode,
  type TenantPatch,
  type TenantUpdate,
  type TreeFilter,
} from './schema.ts';
import { showListed, showTenant } from './show.ts';

/**
 * Creates a tenant and, if the input names one, its first administrator with `password`. An import may prefer a code; the tenant
 * gets it if it is free.
 */
export async function createTenant(
  tx: Tx,
  caller: Caller,
  input: TenantInput,
  {
    password,
    maxLevels,
    preferredCode,
  }: { password: NewPassword | undefined; maxLevels: number; preferredCode?: string },
): Promise<string> {
  const fields = fieldsOf(input);
  await lockTenantTree(tx);
  if (!caller.canActInDescendants) throw apiError('NOT_ALLOWED');
  const parentId = input.tenantParent ?? caller.tenantId;
  await assertParentInScope(tx, caller, parentId);
  const parentPath = await readPath(tx, caller.tenantId, parentId);
  if (parentPath.length >= maxLevels) throw tooDeep(maxLevels);
  const { id, tenantId } = await insertWithNewCode(tx, { parentId, by: caller.userName, fields }, preferredCode);
  const used = input.quotaBo?.riskReportUsed;
  if (used != null) {
    await setTenant(tx, tenantId);
    await setUsed(tx, tenantId, 'riskReport', used);
    await setTenant(tx, caller.tenantId);
  }
  const { username: userName, mustChangePassword } = input;
  if (userName != null && password) {
    await setTenant(tx, tenantId);
    const first = {
      tenantId,
      userName,
      password,
      mustChangePassword: mustChangePassword ?? false,
      by: caller.userName,
    };
    await assertAccountsLeft(tx, caller, tenantId);
    await createFirstAdministrator(tx, first, { userName: 'username', password: 'password' });
  }
  return id;
}

export async function readTenant(tx: Tx, caller: Caller, id: string): Promise<Tagged<Tenant>> {
  const row = await findTenant(tx, caller, id);
  return { data: showTenant(row), etag: etagOf(row) };
}

/** Reads the caller's own tenant for /auth/me, where members may see it too. */
export async function readOwnTenant(tx: Tx, caller: Caller): Promise<Tenant> {
  const row = await readByCode(tx, caller.tenantId, caller.tenantId);
  if (!row) throw apiError('TENANT_DELETED');
  return showTenant(row);
}

/**
 * Replaces a tenant. Quotas that reads do not return keep their values unless they are sent: callers cannot send them back. What
 * was used stays the same too, except that `used`, by default `riskReportUsed`, sets what was used of `riskReport`.
 */
export async function updateTenant(
  tx: Tx,
  caller: Caller,
  input: TenantUpdate,
  {
    ifMatch,
    maxLevels,
    used = input.quotaBo?.riskReportUsed ?? null,
  }: { ifMatch: IfMatch; maxLevels: number; used?: number | null },
): Promise<void> {
  const fields = fieldsOf(input);
  const { tenantParent } = input;
  // Lock first: the tenant must still be in the caller's scope when it is written.
  await lockTenantTree(tx);
  const tenant = await findTenant(tx, caller, input.id);
  assertNotOwnTenant(caller, tenant);
  assertEtag(ifMatch, etagOf(tenant));
  if (tenantParent != null && tenantParent !== tenant.tenantParent) {
    await assertParentInScope(tx, caller, tenantParent);
    if (await readByCode(tx, tenant.tenantId, tenantParent)) throw apiError('TENANT_CYCLE');
    const parentPath = await readPath(tx, caller.tenantId, tenantParent);
    // Switch to the moved tenant: row-level security then covers only its subtree, so the cost of the move depends only on its
    // size.
    await setTenant(tx, tenant.tenantId);
    const { level, bottom } = await readLevels(tx, tenant.tenantId);
    const deeperBy = parentPath.length + 1 - level;
    // A subtree that is too deep already may still move up or stay on its level.
    if (deeperBy > 0 && bottom + deeperBy > maxLevels) throw tooDeep(maxLevels);
    const formerPath = await readPath(tx, tenant.tenantId, tenant.tenantId);
    await moveTenant(tx, tenant.tenantId, parentPath, caller.userName);
    // Check after the move, which has waited for users who are being created in the subtree.
    await assertAccountsFit(tx, caller, tenant.tenantId, formerPath);
    await setTenant(tx, caller.tenantId);
  }
  const kept = HIDDEN_QUOTAS.map((key) => [key, input.quotaBo?.[key] ?? tenant.quotas[key]]);
  const quotas = { ...fields.quotas, ...Object.fromEntries(kept) };
  await updateTenantFields(tx, caller.tenantId, input.id, caller.userName, { ...fields, quotas });
  await setTenant(tx, tenant.tenantId);
  const changed = QUOTAS.filter((key) => fields.quotas[key] !== tenant.quotas[key]);
  // Wait for uses in flight: they hold the locks of counters, have seen the former totals and count against those. Lock all
  // counters in one call, in the order of uses: a use of two quotas could wait for one while this waits for the other.
  const locked = used === null ? changed : [...new Set([...changed, 'riskReport'])];
  await lockQuotas(tx, tenant.tenantId, locked);
  if (used !== null) await setUsed(tx, tenant.tenantId, 'riskReport', used);
  await warnAfterChange(tx, tenant.tenantId, changed);
  await setTenant(tx, caller.tenantId);
}

/** Sets the total of one of the six quotas of `quotaBo`. The transaction has locked the tenant and its counter. */
export const setQuotaTotal = (tx: Tx, { tenantId, userName }: Caller, quota: string, total: number) =>
  updateQuotaTotal(tx, tenantId, quota, total, userName);

/** Changes only the fields that are sent (RFC 7396). The lock is taken before the tenant is read, so no other change is lost. */
export async function patchTenant(
  tx: Tx,
  caller: Caller,
  id: string,
  patch: TenantPatch,
  { ifMatch, maxLevels }: { ifMatch: IfMatch; maxLevels: number },
): Promise<void> {
  assertSameId(id, patch.id, 'id');
  assertNotRemoved(patch, ['tenantParent']);
  await lockTenantTree(tx);
  const tenant = await findTenant(tx, caller, id);
  assertNotOwnTenant(caller, tenant);
  assertEtag(ifMatch, etagOf(tenant));
  const current = { ...showTenant(tenant), quotaBo: tenant.quotas };
  const merged: Omit<TenantUpdate, 'id'> = mergePatch(current, patch);
  // An update keeps the quotas that reads do not return, unless they are sent. A patch resets those that it sets to null.
  const reset = HIDDEN_QUOTAS.filter((key) => patch.quotaBo?.[key] === null).map((key) => [key, 0]);
  const input = { ...merged, id, quotaBo: { ...merged.quotaBo, ...Object.fromEntries(reset) } };
  const sent = patch.quotaBo?.riskReportUsed;
  const used = sent === undefined ? null : (sent ?? 0);
  const isSame =
    isDeepStrictEqual(fieldsOf(input), fieldsOf(current)) && (input.tenantParent ?? null) === tenant.tenantParent;
  // A counter that is set is recorded as a change of the tenant, even if it is set to the same value as before.
  if (isSame && used === null) return;
  await updateTenant(tx, caller, input, { ifMatch: undefined, maxLevels, used });
}

export async function removeTenant(tx: Tx, caller: Caller, id: string, ifMatch: IfMatch): Promise<void> {
  await lockTenantTree(tx);
  const tenant = await findTenant(tx, caller, id);
  assertNotOwnTenant(caller, tenant);
  assertEtag(ifMatch, etagOf(tenant));
  if (await hasChildren(tx, tenant.tenantId)) throw apiError('TENANT_HAS_CHILDREN');
  await markDeleted(tx, caller.tenantId, id, caller.userName);
}

/** Restores a deleted tenant under its previous parent. Its departments and users were never deleted. */
export async function restoreTenant(
  tx: Tx,
  caller: Caller,
  id: string,
  { maxLevels }: { maxLevels: number },
): Promise<void> {
  await lockTenantTree(tx);
  const tenant = await readAnyById(tx, caller.tenantId, id);
  if (!tenant || !canSeeTenant(caller, tenant.tenantId)) throw apiError('TENANT_NOT_FOUND');
  if (tenant.delFlag === '0') throw apiError('TENANT_NOT_DELETED');
  const { tenantParent } = tenant;
  if (!tenantParent || !(await readByCode(tx, caller.tenantId, tenantParent))) {
    throw apiError('TENANT_PARENT_GONE', { tenantParent: tenantParent ?? '' });
  }
  const parentPath = await readPath(tx, caller.tenantId, tenantParent);
  if (parentPath.length >= maxLevels) throw tooDeep(maxLevels);
  await markRestored(tx, caller.tenantId, id, caller.userName);
  await setTenant(tx, tenant.tenantId);
  // The tenant's own quota is not checked: it counted these users before, and may have been lowered below their number.
  await assertAccountsFit(tx, caller, tenant.tenantId, [tenant.tenantId]);
  await setTenant(tx, caller.tenantId);
}

/**
 * Parts of texts that RuoYi's front ends search for (ruoyi-api/). A tenant without a company name is found by its tenant name.
 */
type RuoyiTenantFilters = Pick<TenantSearch, 'companyName' | 'contactUserName' | 'contactPhone'>;

export async function listTenants(
  tx: Tx,
  caller: Caller,
  filter: TenantFilter,
  further: RuoyiTenantFilters = {},
): Promise<Rows<ListedTenant> | CursorPage<ListedTenant>> {
  const { tenantId } = caller;
  const { limit, offset } = pageOf(filter);
  const search = { ...searchOf(caller, filter), ...further };
  const { sort = 'id' } = filter;
  const withRules = filter.fields === 'ruleBo';
  if (filter.cursor !== undefined) {
    const after = filter.cursor && decodeCursor(filter.cursor, sort, isValidKey[sort]);
    const range = { limit: limit + 1, ...(after ? { after } : {}), withRules };
    const { rows, fitting } = await readFitting(readPage(tx, tenantId, search, sort, range));
    const shown = await showRows(tx, caller, filter, rows);
    return toCursorPage(shown, Math.min(limit, fitting), ({ id, endTime }) => ({
      sort,
      key: sort === 'id' ? '' : (endTime ?? ''),
      id,
    }));
  }
  const total = await countTenants(tx, tenantId, search);
  const { rows, fitting } = await readFitting(readPage(tx, tenantId, search, sort, { limit, offset, withRules }));
  // A page ends where its number says, so it cannot end early like one with a cursor.
  if (fitting < rows.length) throw apiError('ANSWER_TOO_LARGE', { limit: MAX_RESPONSE_BYTES });
  return { rows: await showRows(tx, caller, filter, rows), total };
}

async function showRows(
  tx: Tx,
  caller: Caller,
  { fields }: TenantFilter,
  rows: readonly ListedRow[],
): Promise<ListedTenant[]> {
  const shown = rows.map(showListed);
  if (fields !== 'summary') return shown;
  const parents = [...new Set(shown.flatMap(({ tenantParent }) => tenantParent ?? []))];
  const [names, users] = await Promise.all([
    readNames(tx, caller.tenantId, parents),
    countAccountsOf(
      tx,
      shown.map(({ tenantId }) => tenantId),
    ),
  ]);
  return shown.map((row) => ({
    ...row,
    parentName: (row.tenantParent !== null && names.get(row.tenantParent)) || null,
    users: users.get(row.tenantId) ?? 0,
  }));
}

const isValidKey = {
  id: (key: string) => key === '',
  endTime: (key: string) => key === '' || isCalendarDate(key),
};

/** Reads the caller's tenant or one of its descendants, with all tenants below it, as a tree. */
export async function readTenantTree(
  tx: Tx,
  caller: Caller,
  { rootId, depth = MAX_DEPTH }: TreeFilter,
): Promise<TenantNode> {
  const root = rootId === undefined ? caller.tenantId : (await findTenant(tx, caller, rootId)).tenantId;
  // Switch to the root: row-level security then covers only its subtree, so the cost depends only on its size.
  await setTenant(tx, root);
  const rows = caller.canActInDescendants
    ? await readSubtree(tx, root, depth, MAX_TREE_SIZE + 1)
    : (await readSubtree(tx, root, 0, 1)).map((row) => ({ ...row, hasChildren: false }));
  if (rows.length > MAX_TREE_SIZE) throw apiError('TENANT_TREE_TOO_LARGE', { limit: MAX_TREE_SIZE });
  const nodes = rows.map(({ tenantParent, ...row }) => ({
    tenantParent,
    node: { ...row, children: [] as TenantNode[] },
  }));
  const byCode = new Map(nodes.map(({ node }) => [node.tenantId, node]));
  for (const { tenantParent, node } of nodes) if (tenantParent) byCode.get(tenantParent)?.children.push(node);
  const rootNode = byCode.get(root);
  if (!rootNode) throw apiError('TENANT_NOT_FOUND');
  return rootNode;
}

/** Creates tenant 000000 at the very first start. Returns false if it exists already. */
export const createRootTenant = (tx: Tx): Promise<boolean> => {
  const { quotas, rules } = fieldsOf({});
  return insertRootTenant(tx, 'Banyan', quotas, rules);
};

const tooDeep = (limit: number) => apiError('TOO_DEEP', { limit, setting: 'BANYAN_TENANT_LEVELS' });

async function findTenant(tx: Tx, caller: Caller, id: string): Promise<TenantRow> {
  const tenant = await readById(tx, caller.tenantId, id);
  if (!tenant || !canSeeTenant(caller, tenant.tenantId)) throw apiError('TENANT_NOT_FOUND');
  return tenant;
}

const searchOf = (caller: Caller, filter: TenantFilter): TenantSearch => ({
  onlyTenant: caller.canActInDescendants ? null : caller.ownTenantId,
  tenantName: filter.tenantName ?? null,
  tenantId: filter.tenantId ?? null,
  status: filter.status ?? null,
  tenantParent: filter.tenantParent ?? null,
  keyword: filter.keyword ?? null,
  endsBefore: filter.endsBefore ?? null,
});

/** Administrators must not raise the quotas of their own tenant. As 000000 has no ancestor, nobody can change it. */
function assertNotOwnTenant(caller: Caller, tenant: TenantRow): void {
  if (tenant.tenantId === caller.tenantId) throw apiError('OWN_TENANT');
}

async function assertParentInScope(tx: Tx, caller: Caller, parentId: string): Promise<void> {
  if (await readByCode(tx, caller.tenantId, parentId)) return;
  throw apiError((await tenantExists(tx, parentId)) ? 'TENANT_PARENT_FORBIDDEN' : 'TENANT_PARENT_NOT_FOUND');
}

const ATTEMPTS_PER_LENGTH = 20;

/** Codes are random, so a code reveals nothing about other tenants. They get longer once most six-digit codes are taken. */
async function insertWithNewCode(
  tx: Tx,
  row: { parentId: string; by: string; fields: TenantFields },
  preferredCode: string | undefined,
) {
  const preferredId = preferredCode && (await insertTenant(tx, { tenantId: preferredCode, ...row }));
  if (preferredId) return { id: preferredId, tenantId: preferredCode as string };
  for (let digits = 6; ; digits++) {
    for (let attempt = 0; attempt < ATTEMPTS_PER_LENGTH; attempt++) {
      const tenantId = String(randomInt(10 ** digits)).padStart(digits, '0');
      const id = await insertTenant(tx, { tenantId, ...row });
      if (id) return { id, tenantId };
    }
  }
}

function fieldsOf(input: Omit<TenantInput, 'username' | 'password' | 'mustChangePassword'>): TenantFields {
  const { startTime = null, endTime = null, packageBo, quotaBo, ruleBo } = input;
  if (startTime && endTime && endTime < startTime) throw invalid('endTime', 'beforeStartTime');
  const menuIds = packageBo?.menuIds?.replaceAll(' ', '') ?? '';
  if (menuIds.length > LONG_TEXT) throw invalid('packageBo.menuIds', 'menuIdsLength');
  const quotas = [...QUOTAS, ...HIDDEN_QUOTAS].map((key) => [key, quotaBo?.[key] ?? 0]);
  const rules = RULES.map((key) => [key, ruleBo?.[key] ?? null]);
  return {
    ...tenantRecord.withDefaults(input),
    menuIds: [...new Set(menuIds.match(/\d+/g))],
    quotas: Object.fromEntries(quotas),
    rules: Object.fromEntries(rules),
  };
}
