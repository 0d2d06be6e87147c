import { fieldsOf, parentRefusals, show, sorted } from './departments.ts';
import { type Body, faultsOf, forms, idFaults, isSent, queryFaults, type Refusal, withoutEmpty } from './fields.ts';
import {
  cutAt,
  type Dept,
  newStamps,
  type Operation,
  pageOf,
  refuse,
  refuseAny,
  type State,
  touch,
  type User,
} from './state.ts';
import { showUser } from './users.ts';

/** Operations on many departments at once. */

const childrenIn = (state: State, tenantId: string, parentId: number): Dept[] =>
  sorted(state.deptsOf(tenantId).filter((dept) => dept.parentId === parentId));

/** A department that exists; undefined for the top level. */
const deptOrTop = (state: State, me: User, id: string): Dept | undefined =>
  Number(id) === 0 ? undefined : (state.dept(me.tenantId, id) ?? refuse('DEPT_NOT_FOUND'));

const countIn = (state: State, dept: Dept, { counts }: Record<string, string>) =>
  counts === 'true' ? { userCount: state.membersOf(dept).length } : {};

const children: Operation = {
  who: 'user',
  faults: ({ query }, id) => [...idFaults(id), ...queryFaults(forms.children, query)],
  rule(state, me, request, id) {
    const query = withoutEmpty(request.query);
    const parentId = deptOrTop(state, me, id)?.deptId ?? 0;
    const rows = childrenIn(state, me.tenantId, parentId).map((dept) => ({
      ...show(state, dept),
      hasChildren: state.childrenOf(dept).length > 0,
      ...countIn(state, dept, query),
    }));
    return { form: cutAt(rows, Number(query.limit ?? 50)) };
  },
};

const tree: Operation = {
  who: 'user',
  faults: ({ query }) => queryFaults(forms.tree, query),
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
  who: 'user',
  faults: ({ body }) => faultsOf(forms.deptIds, body, ['ids']),
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
  who: 'administrator',
  faults: ({ query }, id) => [...idFaults(id), ...queryFaults(forms.deptUsers, query)],
  rule(state, me, request, id) {
    const query = withoutEmpty(request.query);
    const dept = state.dept(me.tenantId, id) ?? refuse('DEPT_NOT_FOUND');
    const depts = query.below === 'true' ? state.branchOf(dept) : [dept];
    const found = [...new Set(depts.flatMap((each) => state.membersOf(each)))].sort((a, b) => a.userId - b.userId);
    const page = pageOf(found, query, showUser);
    return { data: query.countOnly === 'true' ? { rows: [], total: page.total } : page };
  },
};

const order: Operation = {
  who: 'administrator',
  faults: ({ body }) => faultsOf(forms.deptOrder, body, ['parentId', 'deptIds']),
  rule(state, me, { body }) {
    const { parentId, deptIds } = body as { parentId: unknown; deptIds: unknown[] };
    const listed = deptIds.map(Number);
    if (new Set(listed).size < listed.length) refuse('INVALID_FIELD', { field: 'deptIds' });
    const before = childrenIn(state, me.tenantId, Number(parentId));
    const strangers = listed.filter((id) => !before.some(({ deptId }) => deptId === id));
    refuseAny(
      Number(parentId) !== 0 &&
        !state.dept(me.tenantId, parentId) && {
          reason: 'PARENT_NOT_FOUND',
          facts: { parentId: Number(parentId) },
        },
      strangers.length > 0 && { reason: 'NOT_CHILDREN', facts: { deptIds: strangers } },
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

/** What is wrong with the names that entries give each other. */
function refFaults(entries: Entry[]): Refusal[] {
  const refs = entries.map(({ ref }) => ref);
  const loops = (entry: Entry | undefined, left = entries.length): boolean =>
    entry !== undefined &&
    (left < 0 ||
      loops(
        entries.find(({ ref }) => ref === entry.parentRef),
        left - 1,
      ));
  const wrong = entries.some(
    (entry, at) =>
      refs.indexOf(entry.ref) !== at || (isSent(entry.parentRef) && !refs.includes(entry.parentRef as string)),
  );
  return wrong || entries.some((entry) => loops(entry)) ? [{ reason: 'INVALID_FIELD' }] : [];
}

const bulk: Operation = {
  who: 'administrator',
  faults: ({ body }) => faultsOf(forms.deptBulk, body, ['departments']),
  rule(state, me, { body }) {
    const { parentId, departments } = body as { parentId?: unknown; departments: Entry[] };
    const top = Number(parentId ?? 0);
    const parentOf = ({ parentRef }: Entry) => departments.findIndex(({ ref }) => ref === parentRef);
    refuseAny(
      departments.some(({ tenantId }) => isSent(tenantId) && tenantId !== me.tenantId) && { reason: 'OTHER_TENANT' },
      ...refFaults(departments),
      ...parentRefusals(state, me, top),
      departments.some((entry) => departments[parentOf(entry)]?.status === '1') && { reason: 'PARENT_DISABLED' },
    );
    return {
      form: ({ deptIds }) => Array.isArray(deptIds) && new Set(deptIds).size === departments.length,
      apply: ({ data }) => {
        for (const [at, entry] of departments.entries()) {
          state.depts.push({
            deptId: data.deptIds[at],
            tenantId: me.tenantId,
            parentId: data.deptIds[parentOf(entry)] ?? top,
            fields: fieldsOf(entry),
            ...newStamps(me),
          });
        }
      },
    };
  },
};

export const branches = { children, tree, batchRead, users, order, bulk };
