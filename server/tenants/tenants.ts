import { randomInt } from 'node:crypto';
import type { Tx } from '../../db/sql.ts';
import { enterTenant } from '../../db/tenancy.ts';
import type { Caller } from '../auth/caller.ts';
import { cutPage, type NextRows, placeIn } from '../http/cursor.ts';
import { isCalendarDate, pageOf, type Rows } from '../http/fields.ts';
import { etagOf, type IfMatch, refuseChanged, type Tagged } from '../http/preconditions.ts';
import { refuse } from '../http/refusals.ts';
import { invalid } from '../http/validation.ts';
import { createFirstAdministrator } from '../users/users.ts';
import {
  countTenants,
  hasChildren,
  insertRootTenant,
  insertTenant,
  lockTenantTree,
  markDeleted,
  markRestored,
  moveTenant,
  readAny,
  readBranch,
  readByCode,
  readById,
  readPage,
  readPath,
  type TenantFields,
  type TenantRow,
  type TenantSearch,
  tenantExists,
  updateTenantFields,
} from './queries.ts';
import {
  HIDDEN_QUOTAS,
  LONG_TEXT,
  MAX_DEPTH,
  MAX_TREE,
  QUOTAS,
  RULES,
  type Tenant,
  type TenantFilter,
  type TenantInput,
  type TenantNode,
  type TenantUpdate,
  type TreeFilter,
} from './schema.ts';

export const ROOT = '000000';

/** `passwordHash`: of the first administrator, when there is to be one. */
export async function createTenant(
  tx: Tx,
  caller: Caller,
  input: TenantInput,
  passwordHash: string | undefined,
): Promise<string> {
  const fields = fieldsOf(input);
  await lockTenantTree(tx);
  const parentId = input.tenantParent ?? caller.tenantId;
  await refuseParentOutOfReach(tx, caller, parentId);
  const { id, tenantId } = await insertWithNewCode(tx, { parentId, by: caller.userName, fields });
  if (input.username != null && passwordHash) {
    await enterTenant(tx, tenantId);
    await createFirstAdministrator(tx, { tenantId, userName: input.username, passwordHash, by: caller.userName });
  }
  return id;
}

export async function readTenant(tx: Tx, caller: Caller, id: string): Promise<Tagged<Tenant>> {
  const row = await findTenant(tx, caller, id);
  return { data: shown(row), etag: etagOf(row) };
}

/** For /auth/me: what any user may know of his own tenant. */
export async function readOwnTenant(tx: Tx, caller: Caller): Promise<Tenant> {
  const row = await readByCode(tx, caller.tenantId, caller.tenantId);
  if (!row) throw refuse('TENANT_DELETED');
  return shown(row);
}

export async function updateTenant(tx: Tx, caller: Caller, input: TenantUpdate, ifMatch: IfMatch): Promise<void> {
  const fields = fieldsOf(input);
  const { tenantParent } = input;
  // Locked first: the tenant must still be within reach when it is written.
  await lockTenantTree(tx);
  const tenant = await findTenant(tx, caller, input.id);
  refuseOwn(caller, tenant);
  refuseChanged(ifMatch, etagOf(tenant));
  if (tenantParent != null && tenantParent !== tenant.tenantParent) {
    await refuseParentOutOfReach(tx, caller, tenantParent);
    if (await readByCode(tx, tenant.tenantId, tenantParent)) throw refuse('TENANT_CYCLE');
    const parentPath = await readPath(tx, caller.tenantId, tenantParent);
    // As itself it sees just what moves along, so a move costs what is moved, not all that the caller manages.
    await enterTenant(tx, tenant.tenantId);
    await moveTenant(tx, tenant.tenantId, parentPath, caller.userName);
    await enterTenant(tx, caller.tenantId);
  }
  await updateTenantFields(tx, caller.tenantId, input.id, caller.userName, fields);
}

export async function removeTenant(tx: Tx, caller: Caller, id: string, ifMatch: IfMatch): Promise<void> {
  await lockTenantTree(tx);
  const tenant = await findTenant(tx, caller, id);
  refuseOwn(caller, tenant);
  refuseChanged(ifMatch, etagOf(tenant));
  if (await hasChildren(tx, tenant.tenantId)) throw refuse('TENANT_HAS_CHILDREN');
  await markDeleted(tx, caller.tenantId, id, caller.userName);
}

/** Where it was. Its departments and users were there all the time. */
export async function bringBackTenant(tx: Tx, caller: Caller, id: string): Promise<void> {
  await lockTenantTree(tx);
  const tenant = await readAny(tx, caller.tenantId, id);
  if (!tenant) throw refuse('TENANT_NOT_FOUND');
  if (tenant.delFlag === '0') throw refuse('TENANT_NOT_DELETED');
  const { tenantParent } = tenant;
  if (!tenantParent || !(await readByCode(tx, caller.tenantId, tenantParent))) {
    throw refuse('TENANT_PARENT_GONE', { tenantParent: tenantParent ?? '' });
  }
  await markRestored(tx, caller.tenantId, id, caller.userName);
}

export async function listTenants(
  tx: Tx,
  { tenantId }: Caller,
  filter: TenantFilter,
): Promise<Rows<Tenant> | NextRows<Tenant>> {
  const { limit, offset } = pageOf(filter);
  const search = searchOf(filter);
  const { sort = 'id' } = filter;
  if (filter.cursor !== undefined) {
    const after = filter.cursor && placeIn(filter.cursor, sort, isKeyOf[sort]);
    const rows = await readPage(tx, tenantId, search, sort, { limit: limit + 1, ...(after ? { after } : {}) });
    return cutPage(rows.map(shown), limit, ({ id, endTime }) => ({
      sort,
      key: sort === 'id' ? '' : (endTime ?? ''),
      id,
    }));
  }
  const [rows, total] = await Promise.all([
    readPage(tx, tenantId, search, sort, { limit, offset }),
    countTenants(tx, tenantId, search),
  ]);
  return { rows: rows.map(shown), total };
}

const isKeyOf = {
  id: (key: string) => key === '',
  endTime: (key: string) => key === '' || isCalendarDate(key),
};

/** A tenant of the caller's and those below it, nested. */
export async function readTenantTree(
  tx: Tx,
  caller: Caller,
  { rootId, depth = MAX_DEPTH }: TreeFilter,
): Promise<TenantNode> {
  const root = rootId === undefined ? caller.tenantId : (await findTenant(tx, caller, rootId)).tenantId;
  // From here on only that tenant and those below it are seen, and cost anything.
  await enterTenant(tx, root);
  const rows = await readBranch(tx, root, depth, MAX_TREE + 1);
  if (rows.length > MAX_TREE) throw refuse('TENANT_TREE_TOO_LARGE', { limit: MAX_TREE });
  const nodes = rows.map(({ tenantParent, ...row }) => ({
    tenantParent,
    node: { ...row, children: [] as TenantNode[] },
  }));
  const byCode = new Map(nodes.map(({ node }) => [node.tenantId, node]));
  for (const { tenantParent, node } of nodes) if (tenantParent) byCode.get(tenantParent)?.children.push(node);
  const top = byCode.get(root);
  if (!top) throw refuse('TENANT_NOT_FOUND');
  return top;
}

/** At the first start of all. True when this start made it. */
export const createRootTenant = (tx: Tx): Promise<boolean> => {
  const { quotas, rules } = fieldsOf({});
  return insertRootTenant(tx, 'Banyan', quotas, rules);
};

async function findTenant(tx: Tx, caller: Caller, id: string): Promise<TenantRow> {
  const tenant = await readById(tx, caller.tenantId, id);
  if (!tenant) throw refuse('TENANT_NOT_FOUND');
  return tenant;
}

const searchOf = (filter: TenantFilter): TenantSearch => ({
  tenantName: filter.tenantName ?? null,
  tenantId: filter.tenantId ?? null,
  status: filter.status ?? null,
  tenantParent: filter.tenantParent ?? null,
  keyword: filter.keyword ?? null,
  endsBefore: filter.endsBefore ?? null,
});

/** No one widens his own quotas. 000000 is only ever its own administrators' own. */
function refuseOwn(caller: Caller, tenant: TenantRow): void {
  if (tenant.tenantId === caller.tenantId) throw refuse('OWN_TENANT');
}

async function refuseParentOutOfReach(tx: Tx, caller: Caller, parentId: string): Promise<void> {
  if (await readByCode(tx, caller.tenantId, parentId)) return;
  throw refuse((await tenantExists(tx, parentId)) ? 'TENANT_PARENT_FORBIDDEN' : 'TENANT_PARENT_NOT_FOUND');
}

const TRIES_PER_LENGTH = 20;

/** Random, so that a code tells nothing of others; six digits, and more once most of those are taken. */
async function insertWithNewCode(tx: Tx, row: { parentId: string; by: string; fields: TenantFields }) {
  for (let digits = 6; ; digits++) {
    for (let tries = 0; tries < TRIES_PER_LENGTH; tries++) {
      const tenantId = String(randomInt(10 ** digits)).padStart(digits, '0');
      const id = await insertTenant(tx, { tenantId, ...row });
      if (id) return { id, tenantId };
    }
  }
}

function fieldsOf(input: Omit<TenantInput, 'username' | 'password'>): TenantFields {
  const { startTime = null, endTime = null, packageBo, quotaBo, ruleBo } = input;
  if (startTime && endTime && endTime < startTime) throw invalid('endTime', 'order');
  const menuIds = packageBo?.menuIds?.replaceAll(' ', '') ?? '';
  if (menuIds.length > LONG_TEXT) throw invalid('packageBo.menuIds', 'menuIdsLength');
  const quotas = [...QUOTAS, ...HIDDEN_QUOTAS].map((key) => [key, quotaBo?.[key] ?? 0]);
  const rules = RULES.map((key) => [key, ruleBo?.[key] ?? null]);
  return {
    tenantName: input.tenantName ?? null,
    startTime,
    endTime,
    contactUserName: input.contactUserName ?? null,
    contactPhone: input.contactPhone ?? null,
    companyName: input.companyName ?? null,
    status: input.status ?? '0',
    accountCount: input.accountCount ?? -1,
    menuIds: [...new Set(menuIds.match(/\d+/g))],
    quotas: Object.fromEntries(quotas),
    rules: Object.fromEntries(rules),
  };
}

function shown({ menuIds, quotas, rules, ...tenant }: TenantRow): Tenant {
  return { ...tenant, packageBo: { menuIds: menuIds.join(', ') }, quotaBo: quotas, ruleBo: rules };
}
