import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { after } from '../support/cleanup.ts';
import { plusUi } from '../support/plus-ui.ts';
import { isLong, sample } from '../support/scale.ts';
import { Client, PASSWORD, type Service, startService } from '../support/service.ts';
import { now, signToken, tamper } from '../support/tokens.ts';
import { readAll } from './cross-tenant.ts';

/** The RuoYi adapter is hidden from the OpenAPI document, so this file calls its routes with callers who have no access. */

interface Target {
  parent: string;
  leaf: string;
  user: string;
  /** The internal id of the tenant below. */
  below: string;
  session: string;
}
const absent: Target = {
  parent: '777777771',
  leaf: '777777772',
  user: '777777773',
  below: '7777777777777777772',
  session: '77777777-7777-4777-8777-777777777777',
};

interface Row {
  operation: string;
  path(target: Target): string;
  body?(target: Target): object;
  /** The answer to an administrator of a sibling or child tenant. */
  other: string;
  /** The answer to a member of the same tenant. */
  member?: string;
  /** The answer to the administrator of the tenant, which proves that the call itself is valid. */
  admin?: string;
}

const OK = '200';
const NOT_ALLOWED = '403 NOT_ALLOWED';
const own = (operation: string, path: string): Row => ({ operation, path: () => path, other: OK, member: OK });
const newUser = { userName: 'berta', password: PASSWORD, roleIds: [2] };

/** The order matters only for the administrator, whose calls succeed. */
const table: Row[] = [
  own('GET /system/user/getInfo', '/system/user/getInfo'),
  own('GET /system/menu/getRouters', '/system/menu/getRouters'),
  own('GET /system/dict/data/type/:type', '/system/dict/data/type/sys_yes_no'),
  own('GET /system/config/configKey/:key', '/system/config/configKey/sys.user.initPassword'),
  own('GET /system/user/profile', '/system/user/profile'),
  own('GET /monitor/online', '/monitor/online'),
  own('GET /system/social/list', '/system/social/list'),
  {
    ...own('GET /system/post/optionselect', ''),
    path: ({ parent }) => `/system/post/optionselect?deptId=${parent}`,
    member: NOT_ALLOWED,
  },
  { ...own('GET /system/tenant/package/selectList', '/system/tenant/package/selectList'), member: NOT_ALLOWED },
  { ...own('GET /system/user/', '/system/user/'), member: NOT_ALLOWED },
  own('GET /system/dept/list', '/system/dept/list?pageNum=1&pageSize=10'),
  own('GET /system/dept/treeselect', '/system/dept/treeselect'),
  { ...own('GET /system/user/deptTree', '/system/user/deptTree'), member: NOT_ALLOWED },
  {
    operation: 'GET /system/dept/list/exclude/:id',
    path: ({ leaf }) => `/system/dept/list/exclude/${leaf}`,
    other: OK,
    member: OK,
  },
  {
    operation: 'GET /system/dept/optionselect',
    path: ({ parent }) => `/system/dept/optionselect?deptIds=${parent}`,
    other: OK,
    member: OK,
  },
  {
    operation: 'GET /system/dept/:id',
    path: ({ parent }) => `/system/dept/${parent}`,
    other: '500 DEPT_NOT_FOUND',
    member: OK,
  },
  {
    operation: 'POST /system/dept',
    path: () => '/system/dept',
    body: ({ parent }) => ({ parentId: parent, deptName: 'x', orderNum: 0 }),
    other: '500 PARENT_NOT_FOUND',
  },
  {
    operation: 'POST /system/dept',
    path: () => '/system/dept',
    body: ({ user }) => ({ parentId: 0, deptName: 'x', leader: Number(user) }),
    other: '500 USER_NOT_FOUND',
  },
  {
    operation: 'PUT /system/dept',
    path: () => '/system/dept',
    body: ({ leaf }) => ({ deptId: leaf, deptName: 'x' }),
    other: '500 DEPT_NOT_FOUND',
  },
  {
    operation: 'DELETE /system/dept/:id',
    path: ({ leaf }) => `/system/dept/${leaf}`,
    other: '500 DEPT_NOT_FOUND',
  },
  { operation: 'GET /system/user/list', path: ({ parent }) => `/system/user/list?deptId=${parent}`, other: OK },
  {
    operation: 'GET /system/user/list/dept/:id',
    path: ({ parent }) => `/system/user/list/dept/${parent}`,
    other: '500 DEPT_NOT_FOUND',
  },
  {
    operation: 'GET /system/user/optionselect',
    path: ({ user }) => `/system/user/optionselect?userIds=${user}`,
    other: OK,
  },
  { operation: 'GET /system/user/:id', path: ({ user }) => `/system/user/${user}`, other: '500 USER_NOT_FOUND' },
  {
    operation: 'GET /system/user/authRole/:id',
    path: ({ user }) => `/system/user/authRole/${user}`,
    other: '500 USER_NOT_FOUND',
  },
  {
    operation: 'PUT /system/user/authRole',
    path: ({ user }) => `/system/user/authRole?userId=${user}&roleIds=2`,
    other: '500 USER_NOT_FOUND',
  },
  {
    operation: 'POST /system/user',
    path: () => '/system/user',
    body: ({ parent }) => ({ ...newUser, deptId: parent }),
    other: '500 USER_DEPT_NOT_FOUND',
  },
  {
    operation: 'PUT /system/user',
    path: () => '/system/user',
    body: ({ user }) => ({ userId: user, nickName: 'x' }),
    other: '500 USER_NOT_FOUND',
  },
  {
    operation: 'PUT /system/user/resetPwd',
    path: () => '/system/user/resetPwd',
    body: ({ user }) => ({ userId: user, password: 'vier blaue Pferde' }),
    other: '500 USER_NOT_FOUND',
  },
  {
    operation: 'PUT /system/user/changeStatus',
    path: () => '/system/user/changeStatus',
    body: ({ user }) => ({ userId: user, status: '1' }),
    other: '500 USER_NOT_FOUND',
  },
  { operation: 'DELETE /system/user/:id', path: ({ user }) => `/system/user/${user}`, other: '500 USER_NOT_FOUND' },
  {
    operation: 'PUT /system/user/profile/updatePwd',
    path: () => '/system/user/profile/updatePwd',
    body: () => ({ oldPassword: 'wrong', newPassword: 'vier blaue Pferde' }),
    ...{ other: '500 WRONG_PASSWORD', member: '500 WRONG_PASSWORD', admin: '500 WRONG_PASSWORD' },
  },
  {
    operation: 'POST /monitor/online/:id',
    path: ({ session }) => `/monitor/online/${session}`,
    other: '500 SESSION_NOT_FOUND',
    member: '500 SESSION_NOT_FOUND',
  },
  {
    operation: 'GET /system/tenant/list',
    path: () => '/system/tenant/list?pageNum=1&pageSize=10&companyName=below',
    other: OK,
  },
  {
    operation: 'GET /system/tenant/:id',
    path: ({ below }) => `/system/tenant/${below}`,
    other: '500 TENANT_NOT_FOUND',
  },
  {
    operation: 'PUT /system/tenant',
    path: () => '/system/tenant',
    body: ({ below }) => ({ id: below, contactUserName: 'x' }),
    other: '500 TENANT_NOT_FOUND',
  },
  {
    operation: 'PUT /system/tenant/changeStatus',
    path: () => '/system/tenant/changeStatus',
    body: ({ below }) => ({ id: below, status: '1' }),
    other: '500 TENANT_NOT_FOUND',
  },
  {
    operation: 'DELETE /system/tenant/:id',
    path: ({ below }) => `/system/tenant/${below}`,
    other: '500 TENANT_NOT_FOUND',
  },
];
/** Each caller changes or creates something of their own: see the tests below. */
const testedSeparately = ['PUT /system/user/profile', 'POST /system/tenant'];
/** These routes need no token and show no records: the list of tenants comes from a setting. */
const open = ['GET /auth/code', 'GET /auth/tenant/list', 'GET /resource/sse/close'];

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
const call = ({ operation, path, body }: Row, client: Client, target: Target) =>
  plusUi(client, operation.split(' ')[0] as Method, path(target), body?.(target));

type Answer = Awaited<ReturnType<typeof plusUi>>;
const outcomeOf = ({ status, code, data }: Answer) => {
  assert.equal(status, 200);
  return data?.reason ? `${code} ${data.reason}` : String(code);
};
const withoutIds = ({ text }: Answer, target: Target) =>
  Object.values(target).reduce((rest, id) => rest.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), '#'), text);

const tokenErrors: Record<string, string> = {
  anonymous: '401 NO_TOKEN',
  expired: '401 TOKEN_EXPIRED',
  tampered: '401 INVALID_TOKEN',
};

const service = await startService({ BANYAN_RUOYI_API: '1' });
const protectedTables = await service.superuser<{ name: string }[]>`
  select relname as name from pg_class where relnamespace = 'banyan'::regnamespace and relrowsecurity`;
assert.ok(protectedTables.length >= 6);

/** The routes of the adapter. Those with a wildcard, which are not offered, are left out. */
function adapterRoutes({ app }: Service): string[] {
  const routes: string[] = [];
  const parents: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods = ''] = /^((?:│ {3}| {4})*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line) ?? [];
    const depth = indent.length / 4;
    parents.length = depth;
    parents[depth] = part;
    const path = parents.join('');
    for (const method of methods.split(', ')) if (method && method !== 'HEAD') routes.push(`${method} ${path}`);
  }
  const isOurs = (route: string) =>
    /^\w+ \/(docs|openapi|health|version|\.well-known)|^\w+ \/system\/\w+-api/.test(route) ||
    /^\w+ \/auth\/(login|refresh|logout|sessions|me|password|token|introspect)/.test(route);
  return routes.filter((route) => !isOurs(route) && !route.endsWith('*'));
}

test('every route of the adapter has a cross-tenant test', async () => {
  const routes = adapterRoutes(service);
  const rejected = new Set<string>();
  for (const route of routes) {
    const [method, path = ''] = route.split(' ');
    const { text } = await plusUi(service.root, method as Method, path);
    if (/"RUOYI_NOT_OFFERED","feature":"(GET|POST|PUT|DELETE) /.test(text)) rejected.add(route);
  }
  assert.ok(rejected.size >= 40, `${rejected.size} routes are not offered`);
  const covered = new Set([...table.map(({ operation }) => operation), ...testedSeparately, ...open]);
  assert.deepEqual(routes.filter((route) => !rejected.has(route)).sort(), [...covered].sort());
});

/** The everyday run tests only without row-level security, which could hide a mistake in the code. */
for (const rowSecurity of sample(['with', 'without'], 2, 1)) {
  test(`other callers get the expected answer and change nothing, ${rowSecurity} row-level security`, async (context) => {
    if (rowSecurity === 'without') {
      after(() => setRowSecurity('enable'));
      await setRowSecurity('disable');
    }
    const admin = await service.createTenant();
    const below = await service.createTenant({ tenantName: 'below' }, admin);
    const parent = await admin.createDepartment({ deptName: 'parent' });
    const theirs: Target = {
      parent,
      leaf: await admin.createDepartment({ deptName: 'leaf' }),
      user: await admin.createUser({ userName: 'anna', deptId: parent }),
      below: below.id,
      session: String(decodeJwt(String((await service.logIn(admin.tenantId, 'boss')).token)).sid),
    };
    const member = await service.createMember(admin);
    const outsiders: Record<string, Client> = {
      sibling: await service.createTenant(),
      child: await service.createTenant({}, admin),
      member,
      anonymous: service.anonymous,
      expired: new Client(service.base, await signToken(service, String(admin.token), { claims: { exp: now() - 1 } })),
      tampered: new Client(service.base, tamper(String(member.token), { sub: decodeJwt(String(admin.token)).sub })),
    };
    /** In the everyday run, the administrators of other tenants take turns, and so do callers whose token is rejected. */
    const callersOf = (n: number): [string, Client][] => {
      if (isLong) return Object.entries(outsiders);
      const names = [n % 2 ? 'child' : 'sibling', 'member', ...sample(Object.keys(tokenErrors), 3, n)];
      return names.map((name) => [name, outsiders[name] as Client]);
    };
    for (const [n, row] of table.entries()) {
      await context.test(`${row.operation} ${JSON.stringify(row.body?.(absent) ?? '')}`, async () => {
        const before = await readAll(service.superuser);
        for (const [name, client] of callersOf(n)) {
          const answer = await call(row, client, theirs);
          const expected = name === 'member' ? (row.member ?? NOT_ALLOWED) : row.other;
          assert.equal(outcomeOf(answer), tokenErrors[name] ?? expected, `${name}: ${answer.text}`);
          if (name === 'member' && expected === OK) continue;
          const same = await call(row, client, absent);
          assert.equal(withoutIds(answer, theirs), withoutIds(same, absent), `${name} can tell it from an unknown id`);
        }
        assert.deepEqual(await readAll(service.superuser), before, 'the database changed');
        assert.equal(outcomeOf(await call(row, admin, theirs)), row.admin ?? OK);
      });
    }
    const sibling = outsiders.sibling as Client;
    await sibling.createDepartment();
    const { rows } = await plusUi(sibling, 'GET', '/system/user/list');
    assert.deepEqual([...new Set(rows.map(({ tenantId }) => tenantId))], [sibling.tenantId]);
    assert.equal((await plusUi(sibling, 'GET', '/system/dept/list')).data.length, 1);
    const tenants = await plusUi(sibling, 'GET', '/system/tenant/list');
    assert.deepEqual(
      tenants.rows.map(({ tenantId }) => tenantId),
      [sibling.tenantId],
    );
  });
}

async function setRowSecurity(action: 'enable' | 'disable'): Promise<void> {
  for (const { name } of protectedTables)
    await service.superuser.unsafe(`alter table banyan.${name} ${action} row level security`);
}

test('a profile is that of the caller, whatever user the body names', async () => {
  const admin = await service.createTenant();
  const other = await service.createTenant();
  const { sub } = decodeJwt(String(other.token));
  const change = { userId: Number(sub), tenantId: other.tenantId, nickName: 'x' };
  assert.equal((await plusUi(admin, 'PUT', '/system/user/profile', change)).code, 200);
  const nickNameOf = async (client: Client) => (await plusUi(client, 'GET', '/system/user/profile')).data.user.nickName;
  assert.deepEqual([await nickNameOf(admin), await nickNameOf(other)], ['x', null]);
});

test('a tenant is created below that of the caller, whatever tenant the body names', async () => {
  const admin = await service.createTenant();
  const other = await service.createTenant();
  const form = { companyName: 'new', username: 'first', password: PASSWORD, accountCount: -1 };
  const elsewhere = { ...form, tenantId: other.tenantId, tenantParent: other.tenantId, id: other.id };
  assert.equal((await plusUi(admin, 'POST', '/system/tenant', elsewhere)).code, 200);
  const totalOf = async (client: Client) => (await plusUi(client, 'GET', '/system/tenant/list')).total;
  assert.deepEqual([await totalOf(admin), await totalOf(other)], [2, 1]);
});
