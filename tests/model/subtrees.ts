import { fieldsOf, parentErrors, show, sorted } from './departments.ts';
import {
  type Body,
  bodyErrors,
  type ExpectedError,
  idErrors,
  isPresent,
  queryErrors,
  schemas,
  withoutEmpty,
} from './fields.ts';
import {
  type Dept,
  firstPage,
  newAuditFields,
  type Operation,
  pageOf,
  reject,
  rejectIfAny,
  type State,
  touch,
  type User,
} from './state.ts';
import { showUser } from './users.ts';

/** Operations on several departments. */

const childrenIn = (state: State, tenantId: string, parentId: number): Dept[] =>
  sorted(state.deptsOf(tenantId).filter((dept) => dept.parentId === parentId));

/** The department with this id, or undefined for the top level. */
const deptOrTop = (state: State, me: User, id: string): Dept | undefined =>
  Number(id) === 0 ? undefined : (state.dept(me.tenantId, id) ?? reject('DEPT_NOT_FOUND'));

const countIn = (state: State, dept: Dept, { counts }: Record<string, string>) =>
  counts === 'true' ? { userCount: state.membersOf(dept).length } : {};

const branchCountIn = (state: State, dept: Dept, { branchCounts }: Record<string, string>) =>
  branchCounts === 'true'
    ? { branchUserCount: new Set(state.subtreeOf(dept).flatMap((each) => state.membersOf(each))).size }
    : {};

const children: Operation = {
  requiredRole: 'user',
  validate: ({ query }, id) => [...idErrors(id), ...queryErrors(schemas.children, query)],
  rule(state, me, request, id) {
    const query = withoutEmpty(request.query);
    const parentId = deptOrTop(state, me, id)?.deptId ?? 0;
    const rows = childrenIn(state, me.tenantId, parentId).map((dept) => ({
      ...show(state, dept),
      hasChildren: state.childrenOf(dept).length > 0,
      ...countIn(state, dept, query),
      ...branchCountIn(state, dept, query),
    }));
    return { matches: firstPage(rows, Number(query.limit ?? 50)) };
  },
};

const tree: Operation = {
  requiredRole: 'user',
  validate: ({ query }) => queryErrors(schemas.tree, query),
  rule(state, me, request) {
    const query = withoutEmpty(request.query);
    const node = (dept: Dept, levels: number): Body => {
      const { deptName, orderNum, leader, status } = dept.fields;
      const below = childrenIn(state, me.tenantId, dept.deptId);
      return {
        deptId: dept.deptId,
        parentId: dept.parentId,
        deptName,
        orderNum,
        leader,
        status,
        ...countIn(state, dept, query),
        hasChildren: below.length > 0,
        children: levels > 1 ? below.map((child) => node(child, levels - 1)) : [],
      };
    };
    const root = deptOrTop(state, me, query.rootId ?? '0');
    const roots = root ? [root] : childrenIn(state, me.tenantId, 0);
    return { data: roots.map((dept) => node(dept, Number(query.depth ?? Number.POSITIVE_INFINITY))) };
  },
};

const batchRead: Operation = {
  requiredRole: 'user',
  validate: ({ body }) => bodyErrors(schemas.deptIds, body, ['ids']),
  rule(state, me, { body }) {
    const ids = (body as { ids: unknown[] }).ids;
    const found = ids.map((id) => state.dept(me.tenantId, id));
    return {
      data: {
        rows: found.filter((dept) => dept !== undefined).map((dept) => show(state, dept)),
        missing: ids.filter((_, at) => !found[at]).map(Number),
      },
    };
  },
};

const users: Operation = {
  requiredRole: 'administrator',
  validate: ({ query }, id) => [...idErrors(id), ...queryErrors(schemas.deptUsers, query)],
  rule(state, me, request, id) {
    const query = withoutEmpty(request.query);
    const dept = state.dept(me.tenantId, id) ?? reject('DEPT_NOT_FOUND');
    const depts = query.below === 'true' ? state.subtreeOf(dept) : [dept];
    const found = [...new Set(depts.flatMap((each) => state.membersOf(each)))].sort((a, b) => a.userId - b.userId);
    const page = pageOf(found, query, showUser);
    return { data: query.countOnly === 'true' ? { rows: [], total: page.total } : page };
  },
};

const order: Operation = {
  requiredRole: 'administrator',
  validate: ({ body }) => bodyErrors(schemas.deptOrder, body, ['parentId', 'deptIds']),
  rule(state, me, { body }) {
    const { parentId, deptIds } = body as { parentId: unknown; deptIds: unknown[] };
    const listed = deptIds.map(Number);
    if (new Set(listed).size < listed.length) reject('INVALID_FIELD', { field: 'deptIds' });
    const before = childrenIn(state, me.tenantId, Number(parentId));
    const notChildren = listed.filter((id) => !before.some(({ deptId }) => deptId === id));
    rejectIfAny(
      Number(parentId) !== 0 &&
        !state.dept(me.tenantId, parentId) && {
          reason: 'PARENT_NOT_FOUND',
          details: { parentId: Number(parentId) },
        },
      notChildren.length > 0 && { reason: 'NOT_CHILDREN', details: { deptIds: notChildren } },
    );
    const first = listed.map((id) => before.find(({ deptId }) => deptId === id) as Dept);
    return {
      apply: () => {
        for (const [at, dept] of [...first, ...before.filter((dept) => !first.includes(dept))].entries()) {
          if (dept.fields.orderNum === at + 1) continue;
          dept.fields.orderNum = at + 1;
          touch(dept, me);
        }
      },
    };
  },
};

type Entry = Body & { ref: string; parentRef?: string };

/** Errors of references between entries: repeated, unknown or cyclic. */
function referenceErrors(entries: Entry[]): ExpectedError[] {
  const refs = entries.map(({ ref }) => ref);
  const isCyclic = (entry: Entry | undefined, remaining = entries.length): boolean =>
    entry !== undefined &&
    (remaining < 0 ||
      isCyclic(
        entries.find(({ ref }) => ref === entry.parentRef),
        remaining - 1,
      ));
  const invalid = entries.some(
    (entry, at) =>
      refs.indexOf(entry.ref) !== at || (isPresent(entry.parentRef) && !refs.includes(entry.parentRef as string)),
  );
  return invalid || entries.some((entry) => isCyclic(entry)) ? [{ reason: 'INVALID_FIELD' }] : [];
}

const bulk: Operation = {
  requiredRole: 'administrator',
  validate: ({ body }) => bodyErrors(schemas.deptBulk, body, ['departments']),
  rule(state, me, { body }) {
    const { parentId, departments } = body as { parentId?: unknown; departments: Entry[] };
    const top = Number(parentId ?? 0);
    const parentOf = ({ parentRef }: Entry) => departments.findIndex(({ ref }) => ref === parentRef);
    rejectIfAny(
      departments.some(({ tenantId }) => isPresent(tenantId) && tenantId !== me.tenantId) && { reason: 'OTHER_TENANT' },
      ...referenceErrors(departments),
      ...parentErrors(state, me, top),
      departments.some((entry) => departments[parentOf(entry)]?.status === '1') && { reason: 'PARENT_DISABLED' },
    );
    return {
      matches: ({ deptIds }) => Array.isArray(deptIds) && new Set(deptIds).size === departments.length,
      apply: ({ data }) => {
        for (const [at, entry] of departments.entries()) {
          state.depts.push({
            deptId: data.deptIds[at],
            tenantId: me.tenantId,
            parentId: data.deptIds[parentOf(entry)] ?? top,
            fields: fieldsOf(entry),
            ...newAuditFields(me),
          });
        }
      },
    };
  },
};

export const subtrees = { children, tree, batchRead, users, order, bulk };
