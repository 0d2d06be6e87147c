import { type Body, faultsOf, forms, idFaults, idsFaults, isSent, queryFaults, withoutEmpty } from './fields.ts';
import {
  cutAt,
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

export const fieldsOf = (body: Body): Dept['fields'] => ({
  deptName: String(body.deptName ?? ''),
  orderNum: Number(body.orderNum ?? 0),
  leader: body.leader ?? null,
  phone: body.phone ?? null,
  email: body.email ?? null,
  status: String(body.status ?? '0'),
});

export const show = (state: State, dept: Dept) => ({
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
export function parentRefusals(state: State, me: User, parentId: number) {
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
  faults: ({ ifMatch, query }, id) => [
    ...idsFaults(id, ifMatch),
    ...queryFaults(forms.deptRemoval, query),
    ...(query.subtree === 'true' && new Set(id.split(',')).size > 1
      ? [{ reason: 'INVALID_FIELD', facts: { field: 'subtree' } }]
      : []),
  ],
  rule(state, me, request, id) {
    const whole = request.query.subtree === 'true';
    const ids = [...new Set(id.split(','))];
    const missing = ids.filter((deptId) => !state.dept(me.tenantId, deptId));
    if (missing.length > 0) refuse('DEPT_NOT_FOUND', { deptIds: missing });
    const depts = ids.map((deptId) => state.dept(me.tenantId, deptId) as Dept);
    const { refusal, unsure } = state.ifMatch(request.ifMatch, tagged(state, depts[0] as Dept));
    const among = (test: (dept: Dept) => unknown[]) =>
      depts.filter((dept) => test(dept).length > 0).map(({ deptId }) => deptId);
    const parents = whole ? [] : among((dept) => state.childrenOf(dept));
    const doomed = whole ? depts.flatMap((dept) => state.branchOf(dept)) : depts;
    const used = doomed.filter((dept) => state.membersOf(dept).length > 0).map(({ deptId }) => deptId);
    refuseAny(
      refusal,
      parents.length > 0 && { reason: 'DEPT_HAS_CHILDREN', facts: { deptIds: parents } },
      used.length > 0 && { reason: 'DEPT_HAS_USERS', facts: { deptIds: used } },
    );
    return {
      ...(unsure ? { unsure } : {}),
      apply: () => {
        for (const dept of doomed) {
          dept.deleted = true;
          touch(dept, me);
        }
      },
    };
  },
};

/** Created one after the other, and with growing ids. */
const KEYS: Record<string, (dept: Dept) => string | number> = {
  orderNum: ({ fields }) => fields.orderNum,
  deptName: ({ fields }) => fields.deptName,
  createTime: () => 0,
};

/** `-` turns the whole order around. */
export function sorted(depts: Dept[], sort = 'orderNum'): Dept[] {
  const key = KEYS[sort.replace('-', '')] as (dept: Dept) => string | number;
  const compare = (a: Dept, b: Dept) => (key(a) === key(b) ? a.deptId - b.deptId : key(a) < key(b) ? -1 : 1);
  return [...depts].sort((a, b) => (sort.startsWith('-') ? compare(b, a) : compare(a, b)));
}

/** Nothing is below what is not there. */
function isUnder(state: State, dept: Dept, underId: string | undefined): boolean {
  if (underId === undefined || Number(underId) === 0) return true;
  const top = state.dept(dept.tenantId, underId);
  return top !== undefined && top !== dept && state.pathOf(dept).includes(top);
}

const pathNames = (state: State, dept: Dept, { withPath }: Record<string, string>) =>
  withPath === 'true'
    ? {
        pathNames: state
          .pathOf(dept)
          .slice(0, -1)
          .map(({ fields }) => fields.deptName),
      }
    : {};

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
        const named = holds(fields.deptName, query.deptName) && holds(fields.leader as string | null, query.leader);
        return inPlace && inStatus && named;
      })
      .filter((dept) => isUnder(state, dept, query.underId));
    const inOrder = sorted(found, query.sort);
    const row = (dept: Dept) => ({ ...show(state, dept), ...pathNames(state, dept, query) });
    // A cursor is empty for the first page.
    if (request.query.cursor !== undefined) return { form: cutAt(inOrder.map(row), Number(query.pageSize ?? 20)) };
    return { data: pageOf(inOrder, query, row) };
  },
};

export const departments = { create, read, update, remove, list };
