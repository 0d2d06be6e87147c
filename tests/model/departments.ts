import {
  type Body,
  bodyErrors,
  idErrors,
  idListErrors,
  isPresent,
  queryErrors,
  schemas,
  withoutEmpty,
} from './fields.ts';
import {
  contains,
  type Dept,
  firstPage,
  newAuditFields,
  type Operation,
  pageOf,
  type Revision,
  reject,
  rejectIfAny,
  type State,
  showAuditFields,
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
  leaderId: null,
  source: null,
  externalId: null,
  delFlag: dept.deleted ? '2' : '0',
  tenantId: dept.tenantId,
  ...showAuditFields(dept),
});

const revision = (state: State, dept: Dept): Revision => ({
  name: `${path}/${dept.deptId}`,
  content: JSON.stringify(show(state, dept)),
  version: dept.version,
});

function rejectOtherTenant(me: User, { tenantId }: Body): void {
  if (isPresent(tenantId) && tenantId !== me.tenantId) reject('OTHER_TENANT');
}

/** Errors when the parent is not an enabled department of the tenant of the caller. Parent 0 is always valid. */
export function parentErrors(state: State, me: User, parentId: number) {
  if (parentId === 0) return [];
  const parent = state.dept(me.tenantId, parentId);
  return [
    !parent && { reason: 'PARENT_NOT_FOUND', details: { parentId } },
    parent?.fields.status === '1' && { reason: 'PARENT_DISABLED' },
  ];
}

const create: Operation = {
  requiredRole: 'administrator',
  validate: ({ body }) => bodyErrors(schemas.dept, body),
  rule(state, me, request) {
    const body = request.body as Body;
    rejectOtherTenant(me, body);
    const parentId = Number(body.parentId ?? 0);
    rejectIfAny(...parentErrors(state, me, parentId));
    return {
      creates: path,
      apply: ({ headers }) => {
        const deptId = Number(headers.location?.split('/').at(-1));
        state.depts.push({ deptId, tenantId: me.tenantId, parentId, fields: fieldsOf(body), ...newAuditFields(me) });
      },
    };
  },
};

const read: Operation = {
  requiredRole: 'user',
  validate: (_, id) => idErrors(id),
  rule(state, me, { query }, id) {
    const dept = state.depts.find(({ tenantId, deptId }) => tenantId === me.tenantId && String(deptId) === id);
    if (!dept || (dept.deleted && query.includeDeleted !== 'true')) return reject('DEPT_NOT_FOUND');
    return { data: show(state, dept), ...(dept.deleted ? {} : { revision: revision(state, dept) }) };
  },
};

const update: Operation = {
  requiredRole: 'administrator',
  validate: ({ body }) => bodyErrors(schemas.deptUpdate, body, ['deptId']),
  rule(state, me, request) {
    const body = request.body as Body;
    rejectOtherTenant(me, body);
    const dept = state.dept(me.tenantId, body.deptId) ?? reject('DEPT_NOT_FOUND');
    const { error, possibleErrors } = state.ifMatch(request.ifMatch, revision(state, dept));
    // A department moves only when parentId is sent.
    const parentId = isPresent(body.parentId) ? Number(body.parentId) : dept.parentId;
    const moves = parentId !== dept.parentId;
    const parent = state.dept(me.tenantId, parentId);
    const cycle = parent !== undefined && state.pathOf(parent).includes(dept);
    rejectIfAny(error, moves && cycle && { reason: 'DEPT_CYCLE' }, ...(moves ? parentErrors(state, me, parentId) : []));
    return {
      ...(possibleErrors ? { possibleErrors } : {}),
      apply: () => {
        Object.assign(dept, { parentId, fields: fieldsOf(body) });
        touch(dept, me);
      },
    };
  },
};

const remove: Operation = {
  requiredRole: 'administrator',
  validate: ({ ifMatch, query }, id) => [
    ...idListErrors(id, ifMatch),
    ...queryErrors(schemas.deptRemoval, query),
    ...(query.subtree === 'true' && new Set(id.split(',')).size > 1
      ? [{ reason: 'INVALID_FIELD', details: { field: 'subtree' } }]
      : []),
  ],
  rule(state, me, request, id) {
    const subtree = request.query.subtree === 'true';
    const ids = [...new Set(id.split(','))];
    const missing = ids.filter((deptId) => !state.dept(me.tenantId, deptId));
    if (missing.length > 0) reject('DEPT_NOT_FOUND', { deptIds: missing });
    const depts = ids.map((deptId) => state.dept(me.tenantId, deptId) as Dept);
    const { error, possibleErrors } = state.ifMatch(request.ifMatch, revision(state, depts[0] as Dept));
    const idsWith = (test: (dept: Dept) => unknown[]) =>
      depts.filter((dept) => test(dept).length > 0).map(({ deptId }) => deptId);
    const parents = subtree ? [] : idsWith((dept) => state.childrenOf(dept));
    const toDelete = subtree ? depts.flatMap((dept) => state.subtreeOf(dept)) : depts;
    const used = toDelete.filter((dept) => state.membersOf(dept).length > 0).map(({ deptId }) => deptId);
    rejectIfAny(
      error,
      parents.length > 0 && { reason: 'DEPT_HAS_CHILDREN', details: { deptIds: parents } },
      used.length > 0 && { reason: 'DEPT_HAS_USERS', details: { deptIds: used } },
    );
    return {
      ...(possibleErrors ? { possibleErrors } : {}),
      apply: () => {
        for (const dept of toDelete) {
          dept.deleted = true;
          touch(dept, me);
        }
      },
    };
  },
};

/** Sort keys. Departments get ascending ids when they are created, so the id alone sorts them by createTime. */
const KEYS: Record<string, (dept: Dept) => string | number> = {
  orderNum: ({ fields }) => fields.orderNum,
  deptName: ({ fields }) => fields.deptName,
  createTime: () => 0,
};

/** Sorts departments; `-` reverses the whole order. */
export function sorted(depts: Dept[], sort = 'orderNum'): Dept[] {
  const key = KEYS[sort.replace('-', '')] as (dept: Dept) => string | number;
  const compare = (a: Dept, b: Dept) => (key(a) === key(b) ? a.deptId - b.deptId : key(a) < key(b) ? -1 : 1);
  return [...depts].sort((a, b) => (sort.startsWith('-') ? compare(b, a) : compare(a, b)));
}

/** Whether a department is below another. A department that does not exist has no descendants. */
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
  requiredRole: 'user',
  validate: ({ query }) => queryErrors(schemas.deptList, query),
  rule(state, me, request) {
    const query = withoutEmpty(request.query);
    const found = state
      .deptsOf(me.tenantId)
      .filter(({ parentId, fields }) => {
        const hasParent = query.parentId === undefined || Number(query.parentId) === parentId;
        const hasStatus = query.status === undefined || query.status === fields.status;
        const hasName =
          contains(fields.deptName, query.deptName) && contains(fields.leader as string | null, query.leader);
        return hasParent && hasStatus && hasName;
      })
      .filter((dept) => isUnder(state, dept, query.underId));
    const ordered = sorted(found, query.sort);
    const row = (dept: Dept) => ({ ...show(state, dept), ...pathNames(state, dept, query) });
    // An empty cursor requests the first page.
    if (request.query.cursor !== undefined)
      return { matches: firstPage(ordered.map(row), Number(query.pageSize ?? 20)) };
    return { data: pageOf(ordered, query, row) };
  },
};

export const departments = { create, read, update, remove, list };
