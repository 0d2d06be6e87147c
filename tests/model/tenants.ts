import {
  type Body,
  faultsOf,
  forms,
  idFaults,
  isSent,
  QUOTAS,
  queryFaults,
  type Refusal,
  RULES,
  SHOWN_QUOTAS,
  withoutEmpty,
} from './fields.ts';
import {
  holds,
  newStamps,
  type Operation,
  pageOf,
  refuse,
  refuseAny,
  type State,
  type Tagged,
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

const quotasOf = (body: Body) =>
  Object.fromEntries(QUOTAS.map((quota) => [quota, Number(nested(body, 'quotaBo')[quota] ?? 0)]));

/** Spaces optional on the way in, `", "` on the way out, order kept, repeats dropped. */
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

/** Quotas that no read shows are part of it. */
const tagged = (tenant: Tenant): Tagged => ({
  name: `${path}/${tenant.id}`,
  content: JSON.stringify([showTenant(tenant), tenant.quotas]),
  version: tenant.version,
});

const periodFaults = (body: unknown): Refusal[] => {
  const { startTime, endTime } = (body ?? {}) as Body;
  const isWrong = isSent(startTime) && isSent(endTime) && String(endTime) < String(startTime);
  return isWrong ? [{ reason: 'INVALID_FIELD', facts: { field: 'endTime' } }] : [];
};

/** The caller's own tenant or one below it. */
const find = (state: State, me: User, id: unknown): Tenant | undefined =>
  state.tenants.find((tenant) => tenant.id === id && !tenant.deleted && state.isBelow(tenant.tenantId, me.tenantId));

/** 403 when it exists but isn't his, 400 when there is none. */
function parentRefusal(state: State, me: User, code: string) {
  if (!state.tenant(code)) return { reason: 'TENANT_PARENT_NOT_FOUND' };
  return !state.isBelow(code, me.tenantId) && { reason: 'TENANT_PARENT_FORBIDDEN' };
}

const create: Operation = {
  who: 'administrator',
  faults({ body }) {
    const { username, password } = (body ?? {}) as Body;
    const needed = [...(isSent(username) ? ['password'] : []), ...(isSent(password) ? ['username'] : [])];
    return [...faultsOf(forms.tenant, body, needed), ...periodFaults(body)];
  },
  rule(state, me, request) {
    const body = request.body as Body;
    const tenantParent = isSent(body.tenantParent) ? String(body.tenantParent) : me.tenantId;
    refuseAny(parentRefusal(state, me, tenantParent));
    const fields = fieldsOf(body);
    if (isSent(body.username) && fields.accountCount === 0) refuse('ACCOUNT_LIMIT');
    return {
      creates: path,
      apply: async ({ headers }, ask) => {
        const id = String(headers.location?.split('/').at(-1));
        const { tenantId } = await ask(`${path}/${id}`);
        state.tenants.push({ id, tenantId, tenantParent, fields, quotas: quotasOf(body), ...newStamps(me) });
        if (!isSent(body.username)) return;
        const { rows } = await ask(`/system/user-api/list?tenantId=${tenantId}`);
        state.users.push({
          userId: rows[0].userId,
          tenantId,
          userName: String(body.username),
          password: String(body.password),
          administrator: true,
          deptId: null,
          deptIds: [],
          fields: { nickName: null, email: null, phone: null, status: '0' },
          ...newStamps(me),
        });
      },
    };
  },
};

const read: Operation = {
  who: 'administrator',
  faults: (_, id) => idFaults(id),
  rule(state, me, _, id) {
    const tenant = find(state, me, id) ?? refuse('TENANT_NOT_FOUND');
    return { data: showTenant(tenant), tagged: tagged(tenant) };
  },
};

const update: Operation = {
  who: 'administrator',
  faults: ({ body }) => [...faultsOf(forms.tenantUpdate, body, ['id']), ...periodFaults(body)],
  rule(state, me, request) {
    const body = request.body as Body;
    const tenant = find(state, me, body.id) ?? refuse('TENANT_NOT_FOUND');
    if (tenant.tenantId === me.tenantId) refuse('OWN_TENANT');
    const { refusal, unsure } = state.ifMatch(request.ifMatch, tagged(tenant));
    const parent = isSent(body.tenantParent) ? String(body.tenantParent) : tenant.tenantParent;
    const moves = parent !== null && parent !== tenant.tenantParent;
    refuseAny(
      refusal,
      moves && parentRefusal(state, me, parent),
      moves && state.isBelow(parent, tenant.tenantId) && { reason: 'TENANT_CYCLE' },
    );
    return {
      ...(unsure ? { unsure } : {}),
      apply: () => {
        Object.assign(tenant, { tenantParent: parent, fields: fieldsOf(body), quotas: quotasOf(body) });
        touch(tenant, me);
      },
    };
  },
};

const remove: Operation = {
  who: 'administrator',
  faults: (_, id) => idFaults(id),
  rule(state, me, request, id) {
    const tenant = find(state, me, id) ?? refuse('TENANT_NOT_FOUND');
    if (tenant.tenantId === me.tenantId) refuse('OWN_TENANT');
    const { refusal, unsure } = state.ifMatch(request.ifMatch, tagged(tenant));
    const hasChildren = state.tenants.some((child) => child.tenantParent === tenant.tenantId && !child.deleted);
    refuseAny(refusal, hasChildren && { reason: 'TENANT_HAS_CHILDREN' });
    return {
      ...(unsure ? { unsure } : {}),
      apply: () => {
        tenant.deleted = true;
      },
    };
  },
};

const list: Operation = {
  who: 'administrator',
  faults: ({ query }) => queryFaults(forms.tenantList, query),
  rule(state, me, request) {
    const query = withoutEmpty(request.query);
    const found = state.tenants.filter(({ tenantId, tenantParent, deleted, fields }) => {
      if (deleted || !state.isBelow(tenantId, me.tenantId)) return false;
      const isNamed = query.tenantId === undefined || query.tenantId === tenantId;
      const inPlace = query.tenantParent === undefined || query.tenantParent === tenantParent;
      const inStatus = query.status === undefined || query.status === fields.status;
      return isNamed && inPlace && inStatus && holds(fields.tenantName, query.tenantName);
    });
    return { data: pageOf(found, query, showTenant) };
  },
};

export const tenants = { create, read, update, remove, list };
