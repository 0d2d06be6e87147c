import { type Body, faultsOf, forms, idFaults, idsFaults, isSent, queryFaults, withoutEmpty } from './fields.ts';
import {
  type Dept,
  holds,
  newStamps,
  type Operation,
  pageOf,
  refuse,
  refuseAny,
  type State,
  stampsOf,
  type Tagged,
  touch,
  type User,
} from './state.ts';

const path = '/system/dept-api';

const fieldsOf = (body: Body): Dept['fields'] => ({
  deptName: String(body.deptName ?? ''),
  orderNum: Number(body.orderNum ?? 0),
  leader: body.leader ?? null,
  phone: body.phone ?? null,
  email: body.email ?? null,
  status: String(body.status ?? '0'),
});

const show = (state: State, dept: Dept) => ({
  deptId: dept.deptId,
  parentId: dept.parentId,
  ancestors: [
    0,
    ...state
      .pathOf(dept)
      .slice(0, -1)
      .map(({ deptId }) => deptId),
  ].join(','),
  ...dept.fields,
  delFlag: dept.deleted ? '2' : '0',
  tenantId: dept.tenantId,
  ...stampsOf(dept),
});

const tagged = (state: State, dept: Dept): Tagged => ({
  name: `${path}/${dept.deptId}`,
  content: JSON.stringify(show(state, dept)),
  version: dept.version,
});

function refuseOtherTenant(me: User, { tenantId }: Body): void {
  if (isSent(tenantId) && tenantId !== me.tenantId) refuse('OTHER_TENANT');
}

/** An existing valid department of the caller's tenant; 0 always is. */
function parentRefusals(state: State, me: User, parentId: number) {
  if (parentId === 0) return [];
  const parent = state.dept(me.tenantId, parentId);
  return [
    !parent && { reason: 'PARENT_NOT_FOUND', facts: { parentId } },
    parent?.fields.status === '1' && { reason: 'PARENT_DISABLED' },
  ];
}

const create: Operation = {
  who: 'administrator',
  faults: ({ body }) => faultsOf(forms.dept, body),
  rule(state, me, request) {
    const body = request.body as Body;
    refuseOtherTenant(me, body);
    const parentId = Number(body.parentId ?? 0);
    refuseAny(...parentRefusals(state, me, parentId));
    return {
      creates: path,
      apply: ({ headers }) => {
        const deptId = Number(headers.location?.split('/').at(-1));
        state.depts.push({ deptId, tenantId: me.tenantId, parentId, fields: fieldsOf(body), ...newStamps(me) });
      },
    };
  },
};

const read: Operation = {
  who: 'user',
  faults: (_, id) => idFaults(id),
  rule(state, me, { query }, id) {
    const dept = state.depts.find(({ tenantId, deptId }) => tenantId === me.tenantId && String(deptId) === id);
    if (!dept || (dept.deleted && query.includeDeleted !== 'true')) return refuse('DEPT_NOT_FOUND');
    return { data: show(state, dept), ...(dept.deleted ? {} : { tagged: tagged(state, dept) }) };
  },
};

const update: Operation = {
  who: 'administrator',
  faults: ({ body }) => faultsOf(forms.deptUpdate, body, ['deptId']),
  rule(state, me, request) {
    const body = request.body as Body;
    refuseOtherTenant(me, body);
    const dept = state.dept(me.tenantId, body.deptId) ?? refuse('DEPT_NOT_FOUND');
    const { refusal, unsure } = state.ifMatch(request.ifMatch, tagged(state, dept));
    // The place in the tree changes only when it is sent.
    const parentId = isSent(body.parentId) ? Number(body.parentId) : dept.parentId;
    const moves = parentId !== dept.parentId;
    const parent = state.dept(me.tenantId, parentId);
    const cycle = parent !== undefined && state.pathOf(parent).includes(dept);
    refuseAny(
      refusal,
      moves && cycle && { reason: 'DEPT_CYCLE' },
      ...(moves ? parentRefusals(state, me, parentId) : []),
    );
    return {
      ...(unsure ? { unsure } : {}),
      apply: () => {
        Object.assign(dept, { parentId, fields: fieldsOf(body) });
        touch(dept, me);
      },
    };
  },
};

const remove: Operation = {
  who: 'administrator',
  faults: ({ ifMatch }, id) => idsFaults(id, ifMatch),
  rule(state, me, request, id) {
    const ids = [...new Set(id.split(','))];
    const missing = ids.filter((deptId) => !state.dept(me.tenantId, deptId));
    if (missing.length > 0) refuse('DEPT_NOT_FOUND', { deptIds: missing });
    const depts = ids.map((deptId) => state.dept(me.tenantId, deptId) as Dept);
    const { refusal, unsure } = state.ifMatch(request.ifMatch, tagged(state, depts[0] as Dept));
    const among = (test: (dept: Dept) => unknown[]) =>
      depts.filter((dept) => test(dept).length > 0).map(({ deptId }) => deptId);
    const parents = among((dept) => state.childrenOf(dept));
    const used = among((dept) => state.membersOf(dept));
    refuseAny(
      refusal,
      parents.length > 0 && { reason: 'DEPT_HAS_CHILDREN', facts: { deptIds: parents } },
      used.length > 0 && { reason: 'DEPT_HAS_USERS', facts: { deptIds: used } },
    );
    return {
      ...(unsure ? { unsure } : {}),
      apply: () => {
        for (const dept of depts) {
          dept.deleted = true;
          touch(dept, me);
        }
      },
    };
  },
};

const list: Operation = {
  who: 'user',
  faults: ({ query }) => queryFaults(forms.deptList, query),
  rule(state, me, request) {
    const query = withoutEmpty(request.query);
    const found = state
      .deptsOf(me.tenantId)
      .filter(({ parentId, fields }) => {
        const inPlace = query.parentId === undefined || Number(query.parentId) === parentId;
        const inStatus = query.status === undefined || query.status === fields.status;
        return inPlace && inStatus && holds(fields.deptName, query.deptName);
      })
      .sort((a, b) => a.fields.orderNum - b.fields.orderNum || a.deptId - b.deptId);
    return { data: pageOf(found, query, (dept) => show(state, dept)) };
  },
};

export const departments = { create, read, update, remove, list };
