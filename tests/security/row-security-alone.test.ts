import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql } from '../../db/driver.ts';
import { errorCode } from '../../db/errors.ts';
import { readServiceLogin } from '../../db/roles.ts';
import { after } from '../support/cleanup.ts';
import { connectWithoutDeadline } from '../support/database.ts';
import { report } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { captureQueries, type Query } from '../support/statements.ts';
import { useOperations } from './operations-of-tenant.ts';
import { type Statement, tenantConditions, withoutTenantConditions } from './statements.ts';

/**
 * Simulates a statement whose `tenant_id = …` was forgotten. Captures the statements of the operations that `useOperations`
 * calls, removes their tenant conditions one by one and all together, and runs the rest in tenant A with
 * the parameters of tenant B. Row-level security alone must isolate the two tenants.
 */

const statements = new Map<string, Statement>();

const queries: Query[] = [];
const service = await startService(
  { BANYAN_WEBHOOK_NETWORKS: 'loopback' },
  {
    wrapDatabase: captureQueries(queries),
    // Nothing may change in the background: a test compares the rows of B. Sealing would make webhooks due, for example.
    timing: { sealMs: 3_600_000, webhookPollMs: 3_600_000 },
  },
);
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
await useOperations(service, above, B);
for (const { string, parameters = [] } of queries) {
  if (string && !statements.has(string)) statements.set(string, { text: string, parameters });
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

/** These tables hold the state of sealing and ordering. A write to a record is visible in the other tables. */
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

test('every captured statement on a table with row-level security has an explicit tenant condition', () => {
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
