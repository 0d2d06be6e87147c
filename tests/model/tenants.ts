import {
  type Body,
  bodyErrors,
  type ExpectedError,
  idErrors,
  isPresent,
  QUOTAS,
  queryErrors,
  RULES,
  SHOWN_QUOTAS,
  schemas,
  withoutEmpty,
} from './fields.ts';
import {
  contains,
  newAuditFields,
  type Operation,
  pageOf,
  type Revision,
  reject,
  rejectIfAny,
  type State,
  type Tenant,
  touch,
  type User,
} from './state.ts';

const path = '/system/tenant-api';

const nested = (body: Body, field: string) => (body[field] ?? {}) as Body;

const fieldsOf = (body: Body): Tenant['fields'] => ({
  tenantName: (body.tenantName ?? null) as string | null,
  startTime: (body.startTime ?? null) as string | null,
  endTime: (body.endTime ?? null) as string | null,
  contactUserName: body.contactUserName ?? null,
  contactPhone: body.contactPhone ?? null,
  companyName: body.companyName ?? null,
  status: String(body.status ?? '0'),
  accountCount: Number(body.accountCount ?? -1),
  packageBo: { menuIds: menusOf(String(nested(body, 'packageBo').menuIds ?? '')) },
  ruleBo: Object.fromEntries(RULES.map((rule) => [rule, nested(body, 'ruleBo')[rule] ?? null])),
});

/** Quotas that no read shows keep their values unless they are sent. */
const quotasOf = (body: Body, present: Record<string, number> = {}) =>
  Object.fromEntries(
    QUOTAS.map((quota) => {
      const kept = SHOWN_QUOTAS.includes(quota) ? 0 : (present[quota] ?? 0);
      return [quota, Number(nested(body, 'quotaBo')[quota] ?? kept)];
    }),
  );

/** Spaces are optional in requests; responses use `", "`. The order is kept and duplicates are dropped. */
const menusOf = (text: string) => {
  const ids = text.split(',').map((id) => id.trim());
  return [...new Set(ids.filter((id) => id !== ''))].join(', ');
};

export const showTenant = (tenant: Tenant) => ({
  id: tenant.id,
  tenantId: tenant.tenantId,
  tenantParent: tenant.tenantParent,
  ...tenant.fields,
  quotaBo: Object.fromEntries(SHOWN_QUOTAS.map((quota) => [quota, tenant.quotas[quota]])),
});

/** The revision includes the quotas that no read shows. */
const revision = (tenant: Tenant): Revision => ({
  name: `${path}/${tenant.id}`,
  content: JSON.stringify([showTenant(tenant), tenant.quotas]),
  version: tenant.version,
});

const periodErrors = (body: unknown): ExpectedError[] => {
  const { startTime, endTime } = (body ?? {}) as Body;
  const isInvalid = isPresent(startTime) && isPresent(endTime) && String(endTime) < String(startTime);
  return isInvalid ? [{ reason: 'INVALID_FIELD', details: { field: 'endTime' } }] : [];
};

/** Finds the tenant of the caller or one below it. */
const find = (state: State, me: User, id: unknown): Tenant | undefined =>
  state.tenants.find(
    (tenant) => tenant.id === id && !tenant.deleted && state.isInSubtree(tenant.tenantId, me.tenantId),
  );

/** 403 when the parent exists but the caller does not manage it, 400 when it does not exist. */
function parentError(state: State, me: User, code: string) {
  if (!state.tenant(code)) return { reason: 'TENANT_PARENT_NOT_FOUND' };
  return !state.isInSubtree(code, me.tenantId) && { reason: 'TENANT_PARENT_FORBIDDEN' };
}

const create: Operation = {
  requiredRole: 'administrator',
  validate({ body }) {
    const { username, password } = (body ?? {}) as Body;
    const required = [...(isPresent(username) ? ['password'] : []), ...(isPresent(password) ? ['username'] : [])];
    return [...bodyErrors(schemas.tenant, body, required), ...periodErrors(body)];
  },
  rule(state, me, request) {
    const body = request.body as Body;
    const tenantParent = isPresent(body.tenantParent) ? String(body.tenantParent) : me.tenantId;
    rejectIfAny(parentError(state, me, tenantParent));
    const fields = fieldsOf(body);
    if (isPresent(body.username) && fields.accountCount === 0) reject('ACCOUNT_LIMIT');
    return {
      creates: path,
      apply: async ({ headers }, readAsRoot) => {
        const id = String(headers.location?.split('/').at(-1));
        const { tenantId } = await readAsRoot(`${path}/${id}`);
        state.tenants.push({ id, tenantId, tenantParent, fields, quotas: quotasOf(body), ...newAuditFields(me) });
        if (!isPresent(body.username)) return;
        const { rows } = await readAsRoot(`/system/user-api/list?tenantId=${tenantId}`);
        state.users.push({
          userId: rows[0].userId,
          tenantId,
          userName: String(body.username),
          password: String(body.password),
          administrator: true,
          deptId: null,
          deptIds: [],
          fields: { nickName: null, position: null, email: null, phone: null, status: '0' },
          ...newAuditFields(me),
        });
      },
    };
  },
};

const read: Operation = {
  requiredRole: 'administrator',
  validate: (_, id) => idErrors(id),
  rule(state, me, _, id) {
    const tenant = find(state, me, id) ?? reject('TENANT_NOT_FOUND');
    return { data: showTenant(tenant), revision: revision(tenant) };
  },
};

const update: Operation = {
  requiredRole: 'administrator',
  validate: ({ body }) => [...bodyErrors(schemas.tenantUpdate, body, ['id']), ...periodErrors(body)],
  rule(state, me, request) {
    const body = request.body as Body;
    const tenant = find(state, me, body.id) ?? reject('TENANT_NOT_FOUND');
    if (tenant.tenantId === me.tenantId) reject('OWN_TENANT');
    const { error, possibleErrors } = state.ifMatch(request.ifMatch, revision(tenant));
    const parent = isPresent(body.tenantParent) ? String(body.tenantParent) : tenant.tenantParent;
    const moves = parent !== null && parent !== tenant.tenantParent;
    rejectIfAny(
      error,
      moves && parentError(state, me, parent),
      moves && state.isInSubtree(parent, tenant.tenantId) && { reason: 'TENANT_CYCLE' },
    );
    return {
      ...(possibleErrors ? { possibleErrors } : {}),
      apply: () => {
        Object.assign(tenant, { tenantParent: parent, fields: fieldsOf(body), quotas: quotasOf(body, tenant.quotas) });
        touch(tenant, me);
      },
    };
  },
};

const remove: Operation = {
  requiredRole: 'administrator',
  validate: (_, id) => idErrors(id),
  rule(state, me, request, id) {
    const tenant = find(state, me, id) ?? reject('TENANT_NOT_FOUND');
    if (tenant.tenantId === me.tenantId) reject('OWN_TENANT');
    const { error, possibleErrors } = state.ifMatch(request.ifMatch, revision(tenant));
    const hasChildren = state.tenants.some((child) => child.tenantParent === tenant.tenantId && !child.deleted);
    rejectIfAny(error, hasChildren && { reason: 'TENANT_HAS_CHILDREN' });
    return {
      ...(possibleErrors ? { possibleErrors } : {}),
      apply: () => {
        tenant.deleted = true;
      },
    };
  },
};

const list: Operation = {
  requiredRole: 'administrator',
  validate: ({ query }) => queryErrors(schemas.tenantList, query),
  rule(state, me, request) {
    const query = withoutEmpty(request.query);
    const found = state.tenants.filter(({ tenantId, tenantParent, deleted, fields }) => {
      if (deleted || !state.isInSubtree(tenantId, me.tenantId)) return false;
      const hasCode = query.tenantId === undefined || query.tenantId === tenantId;
      const hasParent = query.tenantParent === undefined || query.tenantParent === tenantParent;
      const hasStatus = query.status === undefined || query.status === fields.status;
      return hasCode && hasParent && hasStatus && contains(fields.tenantName, query.tenantName);
    });
    return { data: pageOf(found, query, (tenant: Tenant) => ({ ...showTenant(tenant), ruleBo: undefined })) };
  },
};

export const tenants = { create, read, update, remove, list };
