import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql } from '../../db/driver.ts';
import { errorCode } from '../../db/errors.ts';
import { readServiceLogin } from '../../db/roles.ts';
import { after } from '../support/cleanup.ts';
import { connectWithoutDeadline } from '../support/database.ts';
import { report } from '../support/scale.ts';
import { Client, PASSWORD, startService } from '../support/service.ts';
import { captureQueries, type Query } from '../support/statements.ts';
import { waitFor } from '../support/wait.ts';
import { type Statement, tenantConditions, withoutTenantConditions } from './statements.ts';

/**
 * Simulates a statement whose `tenant_id = …` was forgotten. Captures the statements of the operations that `useOperations`
 * calls, removes their tenant conditions one by one and all together, and runs the rest in tenant A with
 * the parameters of tenant B. Row-level security alone must isolate them.
 */

const statements = new Map<string, Statement>();

const queries: Query[] = [];
const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { wrapDatabase: captureQueries(queries) });
const { superuser } = service;
const above = await service.createTenant({ tenantName: 'above' });
const A = await service.createTenant({ tenantName: 'A' }, above);
await A.createDepartment({ deptName: 'A' });
await A.createUser({ userName: 'anna' });
// From here on ids belong to B and resemble no other number.
await superuser.unsafe('alter sequence banyan.dept_serial restart 500000001');
await superuser.unsafe('alter sequence banyan.user_serial restart 600000001');
await superuser.unsafe('alter sequence banyan.key_serial restart 700000001');
const B = await service.createTenant({ tenantName: 'marker-B' }, above);

queries.length = 0;
await useOperations();
for (const { string, parameters = [] } of queries) {
  if (string && !statements.has(string)) statements.set(string, { text: string, parameters });
}

/** Tenant B uses operations of every domain that has a table of tenants, and leaves records of each kind. */
async function useOperations(): Promise<void> {
  const [dept, people, tenant] = ['/system/dept-api', '/system/user-api', '/system/tenant-api'];
  const name = 'marker-B';
  const login = { tenantId: B.tenantId, username: 'boss' };
  assert.equal((await service.anonymous.post('/auth/login', { ...login, password: 'wrong horse' })).status, 401);
  const { data } = await service.anonymous.post('/auth/login', { ...login, password: PASSWORD });
  assert.equal((await service.anonymous.post('/auth/refresh', { refresh_token: data.refresh_token })).code, 200);
  await service.anonymous.post('/auth/refresh', { refresh_token: data.refresh_token });
  const top = await B.createDepartment({ deptName: name, leader: name, phone: name, email: 'marker-B@b.cn' });
  const below = await B.createDepartment({ deptName: name, parentId: top });
  const user = await B.createUser({
    userName: name,
    nickName: name,
    deptId: top,
    deptIds: [below],
    email: 'marker-B@b.cn',
  });
  const child = await service.createTenant({ tenantName: name, companyName: name, contactUserName: name }, B);
  const second = await service.createTenant({ tenantName: name }, B);
  const inChild = await B.createUser({ userName: name, tenantId: child.tenantId });
  const key = { headers: { 'idempotency-key': 'marker-B' } };
  const key2 = { headers: { 'idempotency-key': 'marker-B-2' } };
  const tag = { headers: { 'if-match': '"x"' } };
  const [loose, leaver] = [await B.createDepartment({ deptName: name }), await B.createUser({ userName: 'leaver' })];
  const member = await service.createMember(B, { userName: `${name}-2` });
  /** Every sort order, with the first page and a cursor, and every kind of search. */
  const lists = async () => {
    const responses = [];
    for (const sort of ['orderNum', '-deptName', 'createTime', '-updateTime']) {
      const first = await B.get(`${dept}/list?sort=${sort}&cursor=&pageSize=1&withPath=true`);
      responses.push(first, await B.get(`${dept}/list?sort=${sort}&cursor=${first.data.next}`));
    }
    for (const sort of ['userId', '-userName', 'nickName', '-createTime']) {
      const first = await B.get(`${people}/list?sort=${sort}&cursor=&pageSize=1`);
      responses.push(first, await B.get(`${people}/list?sort=${sort}&cursor=${first.data.next}`));
    }
    for (const query of ['deptName=marker', 'leader=marker', `underId=${top}`, `underId=${top}&deptName=marker`]) {
      responses.push(await B.get(`${dept}/list?${query}`), await B.get(`${dept}/list?${query}&cursor=`));
    }
    return responses;
  };
  /** Changes, history and reads with asOf. */
  const past = async () => {
    const { data: changes } = await B.get('/system/change-api?limit=2');
    const at = encodeURIComponent(changes.rows.at(-1).time);
    const now = new Date().toISOString();
    const paths = [
      `/system/change-api?after=${changes.next}`,
      '/system/change-api?below=true&limit=2',
      '/system/change-api?below=true',
      `/system/change-api?below=true&tenantId=${child.tenantId}`,
      '/system/change-api/list',
      `${dept}/list?tenantId=${child.tenantId}`,
      `${dept}/tree?tenantId=${child.tenantId}`,
      `/system/change-api/list?below=false&resource=department&resourceId=${top}&by=boss&from=2020-01-01&to=2999-01-01`,
      `${dept}/${top}/history`,
      `${dept}/diff?from=${now}`,
      `${dept}/0/children?asOf=${at}`,
      `${dept}/tree?asOf=${at}`,
      `${dept}/list?asOf=${at}`,
      `${dept}/${top}?asOf=${now}`,
      `${dept}/${top}/children?asOf=${now}`,
      `${dept}/tree?rootId=${top}&depth=2&asOf=${now}`,
      `${dept}/list?underId=${top}&deptName=marker&asOf=${now}`,
      `${people}/${user}?asOf=${now}`,
      `${tenant}/${child.id}?asOf=${now}`,
    ];
    const responses = [];
    for (const path of paths) responses.push(await B.get(path));
    return responses;
  };
  /** API keys: one is used and kept, one is deleted. */
  const keys = async () => {
    const path = '/system/key-api';
    const body = { keyName: name, permissions: ['dept:read', 'dept:write'] };
    const [kept, deleted] = [await B.post(path, body), await B.post(path, body, key2)];
    const { keyId } = kept.data;
    const client = new Client(service.base, kept.data.key);
    const responses = [
      await client.get(`${dept}/${top}`),
      await client.get(`${dept}/list`),
      await client.put(dept, { deptId: below, deptName: name }, key),
      await B.get(`${path}/list?keyName=marker&status=0`),
      await B.get(`${path}/list?cursor=`),
      await B.get(`${path}/${keyId}`),
      await B.put(path, { keyId, ...body }),
      await B.put(path, { keyId, ...body }, tag),
      await B.post(`${path}/${keyId}/rotate`),
      await B.delete(`${path}/${deleted.data.keyId}`),
    ];
    // The use is recorded in the background, which must not look like a change by another tenant.
    await waitFor('the use is recorded', async () => (await B.get(`${path}/${keyId}`)).data.lastUsedTime);
    return responses;
  };
  /** Counters, reservations, uses and sums of quotas, entitlements, the overview and the search. */
  const quotas = async () => {
    const path = '/system/quota-api';
    const put = await above.put(`${path}/calls?tenantId=${B.tenantId}`, { total: 100, period: 'day', pooled: true });
    const use = await B.post(`${path}/consume`, { quota: 'calls', subject: name });
    const [first, second] = [
      await B.post(`${path}/reserve`, { quota: 'calls', amount: 2, seconds: 600 }),
      await B.post(`${path}/reserve`, { quota: 'calls', seconds: 600 }),
    ];
    return [
      put,
      use,
      await B.post(`${path}/consume?tenantId=${child.tenantId}`, { quota: 'calls' }),
      await B.post(`${path}/consume`, { quota: 'calls' }, { headers: { 'idempotency-key': 'marker-B-3' } }),
      await B.post(`${path}/reservations/${first.data.reservationId}/confirm`, { amount: 1 }),
      await B.post(`${path}/reservations/${second.data.reservationId}/release`),
      await B.post(`${path}/uses/${use.data.useId}/refund`),
      await B.get(path),
      await B.get(`${path}/below`),
      await B.get(`${path}/uses?quota=calls`),
      ...(await Promise.all(
        ['user', 'key', 'subject', 'department', 'tenant'].map((by) => B.get(`${path}/usage?quota=calls&by=${by}`)),
      )),
      await B.get('/system/entitlement-api'),
      await B.get(`/system/entitlement-api?tenantId=${child.tenantId}`),
      await B.get('/system/overview-api'),
      await B.get('/system/search-api?q=marker'),
    ];
  };
  const webhooks = async () => {
    const path = '/system/webhook-api';
    const body = { name, url: 'http://127.0.0.1:9/', kinds: ['department.*'], below: true };
    const created = await B.post(path, body);
    const { id } = created.data;
    return [
      created,
      await B.post(path, { ...body, kinds: ['user.*'] }, { headers: { 'idempotency-key': 'marker-B-4' } }),
      await B.get(`${path}/list`),
      await B.get(`${path}/${id}`),
      await B.put(path, { id, ...body, status: '1' }),
      await B.get(`${path}/${id}/deliveries`),
      await B.post(`${path}/${id}/rotate-secret`),
      await B.delete(`${path}/${id}`),
    ];
  };
  /** Patches, restores and reverts, bulk creation, leaders and external ids. */
  const others = async () => {
    const external = { source: name, externalId: name };
    const led = await B.createDepartment({ deptName: name, leaderId: Number(user), ...external });
    const bulk = await B.post(`${people}/bulk`, {
      departments: [{ ref: name, deptName: name }],
      users: [{ ref: name, userName: `${name}-3`, password: PASSWORD, deptRef: name }],
    });
    const [id] = bulk.data.userIds;
    const last = async (query: string) =>
      (await B.get(`/system/change-api/list?below=false&${query}`)).data.rows[0].id as number;
    const patched = await B.patch(`${dept}/${led}`, { phone: name });
    const responses = [
      bulk,
      patched,
      await B.post(`/system/change-api/${await last(`resource=department&resourceId=${led}`)}/revert`),
      await B.get(`${dept}/external/${name}/${name}`),
      await B.delete(`${dept}/${led}`),
      await B.post(`${dept}/${led}/restore`),
      await B.patch(`${people}/${id}`, { position: name }),
      await B.get(`${people}/${id}/leaders`),
      await B.delete(`${people}/${id}`),
      await B.post(`${people}/${id}/restore`),
      await B.patch(`${tenant}/${child.id}`, { companyName: `${name}-2` }),
      await B.post(`/system/change-api/${await last(`resource=tenant&resourceId=${child.id}`)}/revert`),
    ];
    return responses;
  };
  const responses = [
    ...(await quotas()),
    ...(await webhooks()),
    ...(await others()),
    await B.get(`${dept}/${top}`),
    await B.get(`${dept}/${top}?includeDeleted=true`),
    await B.get(`${dept}/list`),
    await B.get(`${dept}/list?deptName=marker&status=0&parentId=${top}`),
    await B.get(`${dept}/list?parentId=0`),
    ...(await lists()),
    await B.post(`${dept}/batch-read`, { ids: [top, below] }),
    await B.get(`${dept}/${top}/users`),
    await B.get(`${dept}/${top}/users?below=true`),
    await B.get(`${dept}/${top}/users?cursor=`),
    await B.put(dept, { deptId: below, deptName: name, parentId: top }),
    await B.put(dept, { deptId: below, deptName: name, parentId: 0 }),
    await B.put(dept, { deptId: below, deptName: name, parentId: top }, key),
    await B.put(dept, { deptId: below, deptName: name, parentId: top }, key),
    await B.put(dept, { deptId: top, deptName: name }),
    await B.put(dept, { deptId: top }, tag),
    await B.delete(`${dept}/${top}`),
    await B.get(`${dept}/0/children?limit=1`).then(({ data }) => B.get(`${dept}/0/children?cursor=${data.next}`)),
    await B.get(`${dept}/${top}/children`),
    await B.get(`${dept}/tree`),
    await B.get(`${dept}/tree?rootId=${top}`),
    await B.get(`${dept}/tree?depth=1`),
    await B.put(`${dept}/order`, { parentId: 0, deptIds: [loose, top] }),
    await B.put(`${dept}/order`, { parentId: top, deptIds: [below] }),
    await B.post(`${dept}/bulk`, { departments: [{ ref: name, deptName: name }] }),
    await B.delete(`${dept}/${await B.createDepartment({ deptName: name })}?subtree=true`),
    await B.delete(`${dept}/${top}?subtree=true`),
    await B.delete(`${dept}/${loose}`),
    ...(await past()),
    await B.get(`${people}/${user}`),
    await B.get(`${people}/list?userName=marker&deptId=${top}&status=0`),
    await B.get(`${people}/list`),
    await B.get(`${people}/${inChild}?tenantId=${child.tenantId}`),
    await B.put(people, { userId: user, nickName: name, deptId: top, deptIds: [below], password: PASSWORD }),
    await B.put(people, { userId: user }, tag),
    await B.delete(`${people}/${leaver}`),
    await B.get(`${tenant}/${child.id}`),
    await B.get(`${tenant}/list`),
    await B.get(`${tenant}/tree`),
    await B.get(`${tenant}/list?keyword=marker&cursor=`),
    await B.get(`${tenant}/list?tenantName=marker&tenantId=${child.tenantId}&status=0&tenantParent=${B.tenantId}`),
    await B.put(tenant, { id: second.id, tenantName: name, tenantParent: child.tenantId }),
    await B.put(tenant, { id: second.id, tenantName: name, tenantParent: B.tenantId }),
    await B.delete(`${tenant}/${second.id}`),
    ...(await keys()),
    await member.get('/auth/me'),
    await member.put('/auth/password', { oldPassword: PASSWORD, newPassword: 'another horse' }),
    await member.post('/auth/logout'),
  ];
  const unexpected = responses.filter(({ status }) => ![200, 409, 412].includes(status));
  assert.deepEqual(unexpected, []);
}

const login = (await readServiceLogin(superuser)) as { username: string; password: string };
const address = new URL(service.databaseUrl);
address.username = login.username;
address.password = login.password;
const connection = connectWithoutDeadline({ url: address.href });
after(() => connection.end());

const tables = await superuser<{ name: string }[]>`
  select relname as name from pg_class where relnamespace = 'banyan'::regnamespace and relrowsecurity order by 1`;
const onTenantTables = new RegExp(`\\b(from|join|update|into)\\s+(${tables.map(({ name }) => name).join('|')})\\b`);
const tenantStatements = [...statements.values()].filter(({ text }) => onTenantTables.test(text));

/** Ids of all records of B and of tenants below it, as a result would show them. */
const foreign = new Set<string>();
for (const column of [
  'dept_id from departments',
  'user_id from users',
  'session_id from sessions',
  'id from tenants',
  'key_id from api_keys',
]) {
  const [name, table] = column.split(' from ') as [string, string];
  const rows = await superuser<{ id: string }[]>`
    select t.${superuser(name)}::text as id from ${superuser(table)} t
    where tenant_id in (select tenant_id from tenants where path @> array[${B.tenantId}])`;
  for (const { id } of rows) foreign.add(id);
}

/** Sealing and ordering run in the background. */
const BACKGROUND = ['unsealed_changes', 'seals', 'seal_heads', 'unordered_changes', 'change_positions'];

/** A digest of all rows of B and of tenants below it. */
async function stateOfB(): Promise<string> {
  const states = tables
    .filter(({ name }) => !BACKGROUND.includes(name))
    .map(
      ({ name }) => superuser<[{ state: string }]>`
      select md5(coalesce(string_agg(t::text, ';' order by t::text), '')) as state from ${superuser(name)} t
      where tenant_id in (select tenant_id from tenants where path @> array[${B.tenantId}])`,
    );
  return (await Promise.all(states)).map(([{ state }]) => state).join();
}

const undo = new Error('undo');
/** Runs a statement and returns the rows it shows and their number. Rolls back unless `keep` is set. */
async function execute(sql: Sql, tenantId: string, { text, parameters }: Statement, keep = false) {
  let shown = '';
  let count = 0;
  await sql
    .begin(async (tx) => {
      await tx`select set_config('banyan.tenant', ${tenantId}, true)`;
      const rows = await tx.unsafe(text, parameters as never[]);
      shown = JSON.stringify(rows);
      count = rows.count;
      if (!keep) throw undo;
    })
    .catch((error) => {
      if (error === undo) return;
      // A check constraint, a policy, a key or a subquery with several rows stopped the statement, so a row was affected.
      // Any other error is a mistake in this test.
      assert.match(errorCode(error), /^23514$|^42501$|^23505$|^21000$/, `${error.message} in ${text}`);
      count = 1;
    });
  return { shown, count };
}
const showsB = (shown: string) =>
  shown.includes('marker-B') || (shown.match(/[\da-f-]{36}|\d+/g) ?? []).some((word) => foreign.has(word));

test('every captured statement on a table of tenants has an explicit tenant condition', () => {
  assert.ok(tenantStatements.length > 40, `only ${tenantStatements.length} statements were captured`);
  const unconditional = tenantStatements.filter(
    ({ text }) => tenantConditions(text).length === 0 && !/^\s*(with sent .*)?insert/s.test(text),
  );
  // Two exceptions: children of a tenant are found by its code, and changes by codes already found to be below it.
  const unknown = unconditional.filter(
    ({ text }) => !/from tenants t where t.parent_id = \$1|unnest\(\$1::text\[\]\) ledger/.test(text),
  );
  assert.deepEqual(
    unknown.map(({ text }) => text),
    [],
  );
});

test('a statement without its tenant condition neither shows nor changes rows of another tenant', async (t) => {
  const before = await stateOfB();
  let tried = 0;
  let exposed = 0;
  for (const statement of tenantStatements.filter(({ text }) => !/^\s*insert/.test(text))) {
    for (const cut of withoutTenantConditions(statement)) {
      tried++;
      const { shown } = await execute(connection, A.tenantId, cut, true);
      assert.ok(!showsB(shown), `in A, ${cut.text} showed ${shown}`);
      // A superuser, who bypasses row-level security, must be able to see rows of B with the same statements; otherwise this
      // test would prove nothing.
      const all = await execute(superuser, A.tenantId, cut);
      if (showsB(all.shown) || all.count > 0) exposed++;
    }
  }
  assert.equal(await stateOfB(), before, 'rows of B changed');
  report(t, {
    statements: statements.size,
    onTenantTables: tenantStatements.length,
    cut: tried,
    exposedWithoutRowSecurity: exposed,
  });
  assert.ok(exposed > tried / 2, `only ${exposed} of ${tried} would have shown or changed anything`);
});

test('the same statements show nothing without a current tenant', async () => {
  for (const statement of tenantStatements.filter(({ text }) => !/^\s*insert/.test(text))) {
    for (const cut of withoutTenantConditions(statement)) {
      const { shown } = await execute(connection, '', cut);
      assert.ok(!showsB(shown), `${cut.text} showed ${shown}`);
    }
  }
});

test('security invoker functions without a tenant condition show no rows of another tenant', async (t) => {
  const functions = await superuser<{ name: string; text: string }[]>`
    select proname as name, pg_get_functiondef(oid) as text from pg_proc
    where pronamespace = 'banyan'::regnamespace and not prosecdef and prosrc ~ 'tenant_id' order by 1`;
  // Left out are functions that record or seal changes, record uses of keys, make webhooks due, or return one row as JSON.
  assert.deepEqual(
    functions
      .map(({ name }) => name)
      .filter((name) => !/^record_|^(change_hash_input|mark_webhooks_due|seal_changes|user_record)$/.test(name)),
    // read_callers and read_departments are tested here, department_children below. The others return no records of a tenant,
    // but limits, numbers or a boolean.
    [
      'account_limits',
      'count_accounts',
      'department_children',
      'department_height',
      'is_readable_descendant',
      'lock_quota_counters',
      'quota_state',
      'read_callers',
      'read_departments',
      'take_request_tokens',
      'write_quota_counters',
    ],
  );
  const [{ users, sessions, depts }] = await superuser<[{ users: string[]; sessions: string[]; depts: string[] }]>`
    select array_agg(distinct user_id::text) as users, array_agg(distinct session_id::text) as sessions,
      (select array_agg(dept_id::text) from departments where tenant_id = ${B.tenantId}) as depts
    from sessions where tenant_id = ${B.tenantId}`;
  const count = Math.min(users.length, sessions.length);
  const [{ keyId, secretId }] = await superuser<[{ keyId: string; secretId: string }]>`
    select key_id::text as "keyId", secret_id::text as "secretId" from api_key_secrets where tenant_id = ${B.tenantId} limit 1`;
  const callers = [A.tenantId, users.slice(0, count), sessions.slice(0, count), [keyId], [secretId]];
  const callerTypes = '$1, $2::bigint[], $3::uuid[], $4::bigint[], $5::bigint[]';
  const cases = [
    { name: 'read_callers', parameters: callers, types: callerTypes },
    { name: 'read_departments', parameters: [...callers, depts], types: `${callerTypes}, $6::bigint[]` },
  ];
  let cuts = 0;
  let exposed = 0;
  for (const { name, parameters, types } of cases) {
    const text = String(functions.find((each) => each.name === name)?.text);
    for (const { index, 0: condition } of text.matchAll(/\w+\.tenant_id = tenant\b/g)) {
      const cut = `${text.slice(0, index)}true${text.slice(index + condition.length)}`;
      await superuser.unsafe(cut.replace(name, `${name}_cut`));
      const call = { text: `select * from ${name}_cut(${types})`, parameters };
      const { shown } = await execute(connection, A.tenantId, call);
      assert.ok(!showsB(shown), `without ${condition} it showed ${shown}`);
      const all = await execute(superuser, A.tenantId, call);
      if (showsB(all.shown) || all.shown === '') exposed++;
      cuts++;
    }
    await superuser.unsafe(`drop function ${name}_cut`);
  }
  report(t, { cut: cuts, exposedWithoutRowSecurity: exposed });
  assert.equal(cuts, 8);
  assert.ok(exposed >= 2, 'without row-level security rows must be visible');
});

test('subtree traversal reads only rows of its own tenant, on narrow and on wide levels', async () => {
  const [{ text }] = await superuser<[{ text: string }]>`
    select pg_get_functiondef('banyan.department_children'::regproc) as text`;
  const [{ root }] = await superuser<[{ root: string }]>`
    select parent_id::text as root from departments
    where tenant_id = ${B.tenantId} and parent_id is not null and del_flag = '0' limit 1`;
  for (const [condition, replacement, threshold] of [
    ['c.tenant_id = tenant', 'true', 100],
    ['c.tenant_id = $1', '$1 is not null', 0],
  ] as const) {
    const cut = text.replace(condition, () => replacement).replace('<= 100', `<= ${threshold}`);
    assert.ok(cut.includes(replacement) && !cut.includes(condition));
    await superuser.unsafe(cut.replace('department_children', 'department_children_cut'));
    const call = {
      text: 'select unnest(department_children_cut($1, array[$2::bigint], null))',
      parameters: [A.tenantId, root],
    };
    assert.equal((await execute(connection, A.tenantId, call)).count, 0);
    assert.ok(
      (await execute(superuser, A.tenantId, call)).count > 0,
      'without row-level security rows must be visible',
    );
  }
  await superuser.unsafe('drop function department_children_cut');
});
