import fc from 'fast-check';
import { changePassword, logIn, logOut, me, refresh } from './account-commands.ts';
import { deptFields } from './bodies.ts';
import {
  type Choice,
  deptOf,
  homeTenant,
  ifMatchOf,
  partial,
  someCaller,
  someDept,
  someTenant,
  sometimes,
  someUser,
  tenantOf,
  userOf,
  weighted,
} from './choices.ts';
import {
  type Command,
  codeOf,
  command,
  DEPT,
  type Kind,
  otherTenant,
  queryOf,
  shared,
  TENANT,
  USER,
} from './command.ts';
import type { CallerName, Request } from './state.ts';
import { writeDept, writeTenant, writeUser } from './write-commands.ts';

/** Malformed ids, and ids beyond 64 bits. */
const EDGE_CASE_IDS = ['abc', '1.5', '-1', '1,,2', '1'.repeat(20), '9223372036854775808', '9999999999999999999'];

const edgeCaseId = sometimes(3, fc.constantFrom(...EDGE_CASE_IDS));

const tooMany = Array.from({ length: 501 }, (_, n) => n + 1).join(',');

const read = command(
  {
    ...shared,
    kind: weighted<Kind>([3, DEPT], [2, USER], [2, TENANT]),
    dept: someDept,
    user: someUser,
    tenant: someTenant,
    otherTenant,
    edgeCase: edgeCaseId,
    includeDeleted: weighted([3, undefined], [2, 'true'], [1, 'false']),
  },
  ({ caller, kind, dept, user, tenant, otherTenant, edgeCase, includeDeleted }, state) => {
    const home = homeTenant(state, caller);
    const get = (id: string, query: Record<string, string>): Request => ({
      caller,
      method: 'GET',
      path: `${kind}/${edgeCase ?? id}`,
      query,
    });
    if (kind === DEPT) return get(deptOf(state, home, dept), includeDeleted ? { includeDeleted } : {});
    if (kind === TENANT) return get(tenantOf(state, home, tenant).id, {});
    const code = codeOf(state, home, otherTenant);
    return get(userOf(state, code ?? home, user, caller), queryOf(code));
  },
);

const remove = command(
  {
    ...shared,
    kind: weighted<Kind>([4, DEPT], [3, USER], [2, TENANT]),
    depts: fc.array(
      fc.oneof(
        someDept,
        someDept.map(({ n }): Choice => ({ from: 'leaf', n })),
      ),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
    users: fc.array(someUser, { minLength: 1, maxLength: 2 }),
    single: weighted([2, true], [1, false]),
    tenant: someTenant,
    otherTenant,
    edgeCase: sometimes(3, fc.constantFrom(...EDGE_CASE_IDS, tooMany)),
    subtree: sometimes(30, weighted([8, 'true'], [1, 'false'], [1, 'all'])),
  },
  ({ caller, key, match, kind, depts, users, single, tenant, otherTenant, edgeCase, subtree }, state) => {
    const home = homeTenant(state, caller);
    const code = kind === USER ? codeOf(state, home, otherTenant) : undefined;
    const ids = {
      [DEPT]: () => depts.map((choice) => deptOf(state, home, choice)),
      [USER]: () => users.map((choice) => userOf(state, code ?? home, choice, caller)),
      [TENANT]: () => [tenantOf(state, home, tenant).id],
    }[kind]();
    const id = edgeCase ?? ids.slice(0, single ? 1 : undefined).join(',');
    const path = `${kind}/${id}`;
    const ifMatch = ifMatchOf(state, path, match);
    const query = { ...queryOf(code), ...(kind === DEPT && subtree ? { subtree } : {}) };
    // The documentation does not say whether the error of If-Match with several ids is stored under an Idempotency-Key.
    return { caller, method: 'DELETE', path, query, ifMatch, key: ifMatch ? undefined : key };
  },
);

const list = command(
  {
    caller: someCaller,
    kind: weighted<Kind>([3, DEPT], [2, USER], [2, TENANT]),
    filters: partial<string | undefined>({
      status: sometimes(40, weighted([4, '0'], [4, '1'], [1, '2'], [1, ''])),
      name: sometimes(40, fc.constantFrom('s', 'SALES', '%', '_', 'é', 'É', 'an', '')),
      pageNum: sometimes(40, weighted([8, '1'], [3, '2'], [1, '0'], [1, ''])),
      pageSize: sometimes(50, weighted([6, '2'], [2, '500'], [1, '501'], [1, 'x'])),
    }),
    more: partial<string | undefined>({
      leader: sometimes(20, fc.constantFrom('张', 'XX', '')),
      sort: sometimes(
        50,
        fc.constantFrom('orderNum', '-orderNum', 'deptName', '-deptName', 'createTime', '-createTime'),
      ),
      withPath: sometimes(40, weighted([6, 'true'], [2, 'false'], [1, 'yes'])),
      cursor: sometimes(30, fc.constant('')),
    }),
    dept: sometimes(35, someDept),
    under: sometimes(35, someDept),
    parent: sometimes(30, someTenant),
    otherTenant,
  },
  ({ caller, kind, filters: { name, ...filters }, more, dept, under, parent, otherTenant }, state) => {
    const home = homeTenant(state, caller);
    const code = kind === DEPT ? undefined : codeOf(state, home, otherTenant);
    const query = {
      ...filters,
      tenantId: code,
      [{ [DEPT]: 'deptName', [USER]: 'userName', [TENANT]: 'tenantName' }[kind]]: name,
      ...(kind === DEPT ? more : {}),
      ...(kind === DEPT && dept ? { parentId: deptOf(state, home, dept) } : {}),
      ...(kind === DEPT && under ? { underId: deptOf(state, home, under) } : {}),
      ...(kind === USER && dept ? { deptId: deptOf(state, code ?? home, dept) } : {}),
      ...(kind === TENANT ? { tenantParent: codeOf(state, home, parent) } : {}),
    };
    const set = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return { caller, method: 'GET', path: `${kind}/list`, query: Object.fromEntries(set) };
  },
);

const someFlag = (percent: number) => sometimes(percent, weighted([6, 'true'], [2, 'false'], [1, '1']));

const readMany = command(
  {
    caller: someCaller,
    what: weighted<'children' | 'tree' | 'users' | 'batch-read'>(
      [3, 'children'],
      [3, 'tree'],
      [2, 'users'],
      [2, 'batch-read'],
    ),
    dept: sometimes(80, someDept),
    edgeCase: edgeCaseId,
    depts: fc.array(fc.record({ choice: someDept, text: fc.boolean() }), { maxLength: 4 }),
    invalidBody: sometimes(5, fc.constantFrom(undefined, {}, { ids: 5 }, { ids: [-1] }, { ids: Array(501).fill(1) })),
    query: partial<string | undefined>({
      limit: sometimes(60, fc.constantFrom('1', '2', '500', '501', '0')),
      depth: sometimes(60, weighted([3, '1'], [3, '2'], [1, '3'], [1, '0'])),
      counts: someFlag(50),
      branchCounts: someFlag(50),
      below: someFlag(70),
      countOnly: someFlag(20),
      pageSize: sometimes(30, fc.constantFrom('1', '2', 'x')),
    }),
  },
  (
    {
      caller,
      what,
      dept,
      edgeCase,
      depts,
      invalidBody,
      query: { limit, depth, counts, branchCounts, below, countOnly, pageSize },
    },
    state,
  ) => {
    const home = homeTenant(state, caller);
    const id = edgeCase ?? (dept ? deptOf(state, home, dept) : '0');
    if (what === 'batch-read') {
      const ids = depts.map(({ choice, text }) => (text ? String : Number)(deptOf(state, home, choice)));
      return { caller, method: 'POST', path: `${DEPT}/batch-read`, query: {}, body: invalidBody ?? { ids } };
    }
    const query = {
      children: { limit, counts, branchCounts },
      tree: { ...(dept ? { rootId: id } : {}), depth, counts },
      users: { below, countOnly, pageSize },
    }[what];
    const set = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const path = what === 'tree' ? `${DEPT}/tree` : `${DEPT}/${id}/${what}`;
    return { caller, method: 'GET', path, query: Object.fromEntries(set) };
  },
);

/** Some children of one parent in random order, sometimes with an id that is not a child or is repeated. */
const order = command(
  {
    ...shared,
    parent: sometimes(70, someDept),
    rotation: fc.nat(5),
    reversed: fc.boolean(),
    take: weighted([5, 9], [3, 2], [1, 0]),
    other: sometimes(15, someDept),
    repeated: weighted([12, false], [1, true]),
  },
  ({ caller, key, parent, rotation, reversed, take, other, repeated }, state) => {
    const home = homeTenant(state, caller);
    const parentId = parent ? deptOf(state, home, parent) : '0';
    const all = state.deptsOf(home).filter((dept) => String(dept.parentId) === parentId);
    const ids = all.map(({ deptId }) => deptId);
    const rotated = ids.map((_, at) => ids[(at + rotation) % ids.length] as number);
    const listed = (reversed ? rotated.reverse() : rotated).slice(0, take);
    const deptIds = [
      ...listed,
      ...(other ? [Number(deptOf(state, home, other))] : []),
      ...(repeated ? listed.slice(0, 1) : []),
    ];
    const body = { parentId: Number(parentId), deptIds };
    // The documentation does not say whether the error of a repeated id is stored under an Idempotency-Key.
    const safeKey = new Set(deptIds).size === deptIds.length ? key : undefined;
    return { caller, method: 'PUT', path: `${DEPT}/order`, query: {}, body, key: safeKey };
  },
);

/** Departments that refer to each other as parents, sometimes in a cycle or with an unknown reference. */
const bulk = command(
  {
    ...shared,
    parent: sometimes(60, someDept),
    entries: fc.array(fc.record({ fields: deptFields, above: sometimes(60, fc.nat(4)) }), {
      minLength: 1,
      maxLength: 4,
    }),
    foreign: sometimes(3, someTenant),
  },
  ({ caller, key, parent, entries, foreign }, state) => {
    const home = homeTenant(state, caller);
    const departments = entries.map(({ fields, above }, at) => ({
      ...fields,
      ref: `r${at}`,
      ...(above === undefined ? {} : { parentRef: `r${above}` }),
      ...(foreign && at === 0 ? { tenantId: tenantOf(state, home, foreign).tenantId } : {}),
    }));
    const body = { ...(parent ? { parentId: Number(deptOf(state, home, parent)) } : {}), departments };
    // The documentation does not say whether the error of invalid references is stored under an Idempotency-Key.
    const isCertainlyValid = entries.every(({ above }, at) => above === undefined || above < at);
    return { caller, method: 'POST', path: `${DEPT}/bulk`, query: {}, body, key: isCertainlyValid ? key : undefined };
  },
);

/** Repeats an earlier request exactly, including its Idempotency-Key and If-Match. */
const repeat = command(
  { n: fc.nat(7) },
  ({ n }, _, earlier) => earlier.at(-1 - (n % earlier.length)) ?? listAll('boss', DEPT),
);

const listAll = (caller: CallerName, kind: Kind): Request => ({
  caller,
  method: 'GET',
  path: `${kind}/list`,
  query: { pageSize: '500' },
});

/** Sent at the end of a sequence, to compare what it has written with the model. */
export const finalReads: Command[] = [
  () => listAll('boss', DEPT),
  () => ({ caller: 'boss', method: 'GET', path: `${DEPT}/tree`, query: { counts: 'true' } }),
  () => listAll('boss', USER),
  () => listAll('above', TENANT),
  () => listAll('child', DEPT),
  () => listAll('child', USER),
  () => listAll('sibling', DEPT),
];

export const sequence: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    { weight: 24, arbitrary: writeDept },
    { weight: 14, arbitrary: writeUser },
    { weight: 12, arbitrary: writeTenant },
    { weight: 14, arbitrary: read },
    { weight: 14, arbitrary: remove },
    { weight: 10, arbitrary: list },
    { weight: 10, arbitrary: readMany },
    { weight: 6, arbitrary: order },
    { weight: 6, arbitrary: bulk },
    { weight: 7, arbitrary: repeat },
    { weight: 2, arbitrary: logIn },
    { weight: 2, arbitrary: me },
    { weight: 1, arbitrary: refresh },
    { weight: 1, arbitrary: logOut },
    { weight: 1, arbitrary: changePassword },
  ),
  { minLength: 1, maxLength: 30, size: 'max' },
);
