import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { type Answer, Client, PASSWORD, startService } from './harness.ts';
import { craft, now, tamper } from './tokens.ts';

/**
 * Every operation, called by those whom it is none of their business. The tenant they call upon has departments, users
 * and a tenant below it; each row of the table says what they get.
 */

const service = await startService();

const boss = await service.tenant({ tenantName: 'theirs' });
const below = await service.tenant({ tenantName: 'below theirs' }, boss);
const parent = await boss.dept({ deptName: 'parent' });
const leaf = await boss.dept({ deptName: 'leaf' });
const user = await boss.user({ userName: 'anna', deptId: parent });

/** What the calls name. */
interface Named {
  parent: string;
  leaf: string;
  user: string;
  /** The tenant's own code and id, and those of the tenant below it. */
  code: string;
  id: string;
  belowCode: string;
  belowId: string;
}
const theirs: Named = {
  parent,
  leaf,
  user,
  code: boss.tenantId,
  id: boss.id,
  belowCode: below.tenantId,
  belowId: below.id,
};
/** The same, of which there is none. */
const absent: Named = {
  parent: '777777771',
  leaf: '777777772',
  user: '777777773',
  code: '777777777777777771',
  id: '7777777777777777771',
  belowCode: '777777777777777772',
  belowId: '7777777777777777772',
};

const strangers = {
  sibling: await service.tenant(),
  child: await service.tenant({}, boss),
  member: await service.member(boss),
  nobody: service.nobody,
  // The rightful administrator's own, a second too late.
  expired: new Client(service.base, await craft(service, String(boss.token), { claims: { exp: now() - 1 } })),
  // A member's, with the administrator's id in it.
  tampered: await service
    .member(boss)
    .then(({ token }) => new Client(service.base, tamper(String(token), { sub: decodeJwt(String(boss.token)).sub }))),
};

const FINE = '200';
const reasonOf = ({ status, data }: Answer) => (data?.reason ? `${status} ${data.reason}` : String(status));
const withoutToken: Record<string, string> = {
  nobody: '401 NO_TOKEN',
  expired: '401 TOKEN_EXPIRED',
  tampered: '401 INVALID_TOKEN',
};

interface Row {
  operation: string;
  /** Which call of it, where there are several. */
  as?: string;
  call(client: Client, named: Named): Promise<Answer>;
  /** What an administrator of another tenant gets, beside it or below it. */
  other: string;
  /** What a member of the same tenant gets; mostly that it is not for him. */
  member?: string;
  /** What the rightful administrator gets, so that we know the call to be a good one. */
  boss?: string;
  /** Others can tell the tenant's from an absent one: the law says so of a new tenant's parent alone. */
  told?: boolean;
  /** Needs no token, so a bad one is not looked at. */
  open?: boolean;
}

const dept = '/system/dept-api';
const tenant = '/system/tenant-api';
const people = '/system/user-api';
const password = PASSWORD;

// Deletions come last: the rightful administrator calls each operation after the strangers have.
const table: Row[] = [
  {
    operation: `POST ${dept}`,
    as: 'below their department',
    call: (client, { parent }) => client.post(dept, { parentId: parent }),
    other: '400 PARENT_NOT_FOUND',
  },
  {
    operation: `POST ${dept}`,
    as: 'in their tenant',
    call: (client, { code }) => client.post(dept, { tenantId: code }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${dept}/{id}`,
    call: (client, { leaf }) => client.get(`${dept}/${leaf}?includeDeleted=true`),
    other: '404 DEPT_NOT_FOUND',
    member: FINE,
  },
  {
    operation: `GET ${dept}/list`,
    as: 'of their department',
    call: (client, { parent }) => client.get(`${dept}/list?parentId=${parent}`),
    other: FINE,
    member: FINE,
  },
  {
    operation: `PUT ${dept}`,
    call: (client, { leaf }) => client.put(dept, { deptId: leaf, deptName: 'new' }),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `PUT ${dept}`,
    as: 'in their tenant',
    call: (client, { leaf, code }) => client.put(dept, { deptId: leaf, tenantId: code }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `PUT ${dept}`,
    as: 'to their department',
    call: (client, { leaf, parent }) => client.put(dept, { deptId: leaf, parentId: parent }),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `POST ${tenant}`,
    as: 'below their tenant',
    call: (client, { code }) => client.post(tenant, { tenantParent: code, username: 'new', password }),
    other: '403 TENANT_PARENT_FORBIDDEN',
    told: true,
  },
  {
    operation: `GET ${tenant}/{id}`,
    call: (client, { belowId }) => client.get(`${tenant}/${belowId}`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `GET ${tenant}/{id}`,
    as: 'their own',
    call: (client, { id }) => client.get(`${tenant}/${id}`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `GET ${tenant}/list`,
    as: 'their own',
    call: (client, { code }) => client.get(`${tenant}/list?tenantId=${code}`),
    other: FINE,
  },
  {
    operation: `GET ${tenant}/list`,
    as: 'the one below them',
    call: (client, { belowCode }) => client.get(`${tenant}/list?tenantId=${belowCode}`),
    other: FINE,
  },
  {
    operation: `PUT ${tenant}`,
    call: (client, { belowId }) => client.put(tenant, { id: belowId, tenantName: 'new' }),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `PUT ${tenant}`,
    as: 'their own',
    call: (client, { id }) => client.put(tenant, { id, accountCount: 9 }),
    other: '404 TENANT_NOT_FOUND',
    boss: '403 OWN_TENANT',
  },
  {
    operation: `POST ${people}`,
    as: 'in their tenant',
    call: (client, { code }) => client.post(people, { userName: 'one', password, tenantId: code, roles: ['admin'] }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `POST ${people}`,
    as: 'in their department',
    call: (client, { parent }) => client.post(people, { userName: 'two', password, deptIds: [parent] }),
    other: '400 USER_DEPT_NOT_FOUND',
  },
  {
    operation: `GET ${people}/{id}`,
    call: (client, { user }) => client.get(`${people}/${user}`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `GET ${people}/{id}`,
    as: 'in their tenant',
    call: (client, { user, code }) => client.get(`${people}/${user}?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${people}/list`,
    as: 'in their tenant',
    call: (client, { code }) => client.get(`${people}/list?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${people}/list`,
    as: 'of their department',
    call: (client, { parent }) => client.get(`${people}/list?deptId=${parent}`),
    other: FINE,
  },
  {
    operation: `PUT ${people}`,
    call: (client, { user }) => client.put(people, { userId: user, password, roles: ['admin'] }),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `PUT ${people}`,
    as: 'in their tenant',
    call: (client, { user, code }) => client.put(people, { userId: user, tenantId: code, status: '1' }),
    other: '403 OTHER_TENANT',
  },
  { operation: 'GET /auth/me', call: (client) => client.get('/auth/me'), other: FINE, member: FINE },
  {
    operation: 'PUT /auth/password',
    call: (client) => client.put('/auth/password', { oldPassword: 'not mine', newPassword: 'a new password' }),
    other: '400 WRONG_PASSWORD',
    member: '400 WRONG_PASSWORD',
    boss: '400 WRONG_PASSWORD',
  },
  ...open('POST /auth/login', '401 LOGIN_FAILED', (client, { code }) =>
    // Never the same name twice: a few failures would lock it.
    client.post('/auth/login', { tenantId: code, username: randomUUID(), password }),
  ),
  ...open('POST /auth/refresh', '401 REFRESH_REFUSED', (client) =>
    client.post('/auth/refresh', { refresh_token: 'none' }),
  ),
  ...open('GET /health/live', FINE, (client) => client.get('/health/live')),
  ...open('GET /health/ready', FINE, (client) => client.get('/health/ready')),
  ...open('GET /version', FINE, (client) => client.get('/version')),
  {
    operation: `DELETE ${dept}/{id}`,
    call: (client, { leaf }) => client.delete(`${dept}/${leaf}`),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `DELETE ${people}/{id}`,
    as: 'in their tenant',
    call: (client, { user, code }) => client.delete(`${people}/${user}?tenantId=${code}`),
    other: '403 OTHER_TENANT',
    boss: FINE,
  },
  {
    operation: `DELETE ${people}/{id}`,
    call: (client, { user }) => client.delete(`${people}/${user}`),
    other: '404 USER_NOT_FOUND',
    boss: '404 USER_NOT_FOUND', // deleted a moment ago
  },
  {
    operation: `DELETE ${tenant}/{id}`,
    as: 'their own',
    call: (client, { id }) => client.delete(`${tenant}/${id}`),
    other: '404 TENANT_NOT_FOUND',
    boss: '403 OWN_TENANT',
  },
  {
    operation: `DELETE ${tenant}/{id}`,
    call: (client, { belowId }) => client.delete(`${tenant}/${belowId}`),
    other: '404 TENANT_NOT_FOUND',
  },
];

/** An operation that asks for no token answers everybody alike. */
function open(operation: string, answer: string, call: Row['call']): Row[] {
  return [{ operation, call, other: answer, member: answer, boss: answer, open: true }];
}

/** Called below, with a session that may end. */
const elsewhere = ['POST /auth/logout'];

test('every operation of the interface has its strangers', async () => {
  const { paths } = JSON.parse((await service.nobody.get('/openapi.json')).text);
  const documented = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const called = new Set([...table.map(({ operation }) => operation), ...elsewhere]);
  assert.deepEqual([...called].sort(), documented.sort());
});

for (const { operation, as = '', call, other, member = '403 NOT_ALLOWED', boss: expected = FINE, ...row } of table) {
  test(`strangers call ${operation} ${as}`, async () => {
    const before = await snapshot();
    for (const [name, client] of Object.entries(strangers)) {
      const answer = await call(client, theirs);
      const mine = name === 'member' ? member : other;
      assert.equal(reasonOf(answer), row.open ? other : (withoutToken[name] ?? mine), `${name}: ${answer.text}`);
      if (row.told || (name === 'member' && mine === FINE)) continue;
      const same = await call(client, absent);
      assert.equal(unnamed(answer, theirs), unnamed(same, absent), `${name} can tell it from an absent one`);
    }
    assert.deepEqual(await snapshot(), before, 'something has changed');
    assert.equal(reasonOf(await call(boss, theirs)), expected);
  });
}

test('a list holds nothing of other tenants', async () => {
  for (const stranger of [strangers.sibling, strangers.child]) {
    await stranger.dept();
    for (const path of [dept, tenant, people]) {
      const { data } = await stranger.get(`${path}/list?pageSize=500`);
      const tenants = new Set(data.rows.map((each: { tenantId: string }) => each.tenantId));
      assert.deepEqual([...tenants], [stranger.tenantId], path);
    }
  }
});

test("a batch with another tenant's id in it deletes nothing", async () => {
  const { sibling } = strangers;
  const own = await sibling.dept();
  const department = await sibling.delete(`${dept}/${own},${parent}`);
  assert.deepEqual([department.status, department.data.deptIds], [404, [Number(parent)]]);
  assert.equal((await sibling.get(`${dept}/${own}`)).code, 200);
  const person = await sibling.user({ userName: 'own' });
  const foreign = decodeJwt(String(boss.token)).sub;
  const users = await sibling.delete(`${people}/${person},${foreign}`);
  assert.deepEqual([users.status, users.data.userIds], [404, [Number(foreign)]]);
  assert.equal((await sibling.get(`${people}/${person}`)).code, 200);
});

test('strangers log out: their own session is all that ends', async () => {
  const before = await snapshot();
  for (const name of ['nobody', 'expired', 'tampered'] as const) {
    assert.equal(reasonOf(await strangers[name].post('/auth/logout')), withoutToken[name]);
  }
  assert.deepEqual(await snapshot(), before, 'something has changed');
  for (const client of [strangers.sibling, strangers.child, strangers.member]) {
    assert.equal(reasonOf(await client.post('/auth/logout')), FINE);
    assert.equal(reasonOf(await client.get('/auth/me')), '401 SESSION_ENDED');
    assert.equal(reasonOf(await boss.get('/auth/me')), FINE);
  }
});

/** An answer without the ids that the call named: they are all that may differ. */
const unnamed = ({ status, text }: Answer, named: Named) =>
  Object.entries(named).reduce(
    (rest, [name, id]) => rest.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), name),
    `${status} ${text}`,
  );

/** Every row of every table, but what counts failed logins: guesses are meant to leave a trace there. */
async function snapshot(): Promise<unknown> {
  const tables = await service.superuser<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'banyan' and tablename not like 'login_%' order by 1`;
  assert.ok(tables.length >= 5);
  const rows = tables.map(
    ({ name }) => service.superuser`
      select ${name} as table, to_jsonb(t) as row from ${service.superuser(name)} t order by to_jsonb(t)::text`,
  );
  return Promise.all(rows);
}
