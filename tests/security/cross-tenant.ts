import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import type { Sql } from '../../db/driver.ts';
import { readSerially } from '../support/expect.ts';
import { operationsOf, readDocument } from '../support/openapi.ts';
import { isLong, sample } from '../support/scale.ts';
import { type ApiResponse, Client, type Service } from '../support/service.ts';
import { now, signToken, tamper } from '../support/tokens.ts';
import { table } from './cross-tenant-calls/table.ts';
import {
  absent,
  dept,
  disabledWebhook,
  hook,
  keys,
  newKey,
  OK,
  people,
  quotas,
  type Target,
  tenant,
} from './cross-tenant-calls/target.ts';

/**
 * Calls every operation on a tenant with callers that must not have access. The tenant has departments, users and a
 * tenant below it.
 */
export async function testCrossTenantAccess(service: Service): Promise<void> {
  const admin = await service.createTenant({ tenantName: 'theirs' });
  const below = await service.createTenant({ tenantName: 'below theirs' }, admin);
  const parent = await admin.createDepartment({ deptName: 'parent' });
  const external = { source: 'hr', externalId: '555555551' };
  const leaf = await admin.createDepartment({ deptName: 'leaf', ...external });
  const user = await admin.createUser({ userName: 'anna', deptId: parent, ...external });
  const webhook = await admin.create(hook, disabledWebhook);
  const { data: changes } = await admin.get('/system/change-api/list?below=false&limit=1&resource=department');
  const [deletedDept, deletedUser] = [await admin.createDepartment(), await admin.createUser({ userName: 'deleted' })];
  const deletedId = await admin.create(tenant, {});
  for (const path of [`${dept}/${deletedDept}`, `${people}/${deletedUser}`, `${tenant}/${deletedId}`])
    await admin.delete(path);
  await service.root.put(`${quotas}/calls?tenantId=${admin.tenantId}`, { total: 10, pooled: true });
  const { data: used } = await admin.post(`${quotas}/consume`, { quota: 'calls' });
  const reserve = async () => {
    const { data } = await admin.post(`${quotas}/reserve`, { quota: 'calls', seconds: 86_400 });
    return String(data.reservationId).padStart(19, '0');
  };
  const theirs: Target = {
    // Pad the ids: a small number could also occur elsewhere.
    reservation: await reserve(),
    secondReservation: await reserve(),
    use: String(used.useId).padStart(19, '0'),
    parent,
    leaf,
    user,
    secondUser: await admin.createUser({ userName: 'otto' }),
    externalId: external.externalId,
    deletedDept,
    deletedUser,
    deletedId,
    // Pad the id to its maximum length: a small number could also occur in a time.
    change: String(changes.rows[0].id).padStart(19, '0'),
    code: admin.tenantId,
    id: admin.id,
    belowCode: below.tenantId,
    belowId: below.id,
    session: String(decodeJwt(String((await service.logIn(admin.tenantId, 'boss')).token)).sid),
    webhook,
    apiKey: await admin.create(keys, newKey),
    delivery: await insertDelivery(service.superuser, admin.tenantId, webhook),
  };
  const outsiders = {
    sibling: await service.createTenant(),
    child: await service.createTenant({}, admin),
    member: await service.createMember(admin),
    anonymous: service.anonymous,
    expired: new Client(service.base, await signToken(service, String(admin.token), { claims: { exp: now() - 1 } })),
    // A token of a member with the id of the administrator in it.
    tampered: await service
      .createMember(admin)
      .then(
        ({ token }) => new Client(service.base, tamper(String(token), { sub: decodeJwt(String(admin.token)).sub })),
      ),
  };
  const callers = Object.entries(outsiders);
  /**
   * The callers of the nth operation. In the everyday run, the administrators of other tenants take turns, and so do callers
   * whose token is rejected.
   */
  const callersOf = (n: number): [string, Client][] => {
    if (isLong) return callers;
    const { sibling, child, member, ...rejected } = outsiders;
    const administrator: [string, Client] = n % 2 ? ['child', child] : ['sibling', sibling];
    return [administrator, ...sample(Object.entries(rejected), 3, n), ['member', member]];
  };
  const snapshot = () => readAll(service.superuser);

  test('every documented operation has a cross-tenant test', async () => {
    const documented = operationsOf(await readDocument(service)).map(({ method, path }) => `${method} ${path}`);
    const operations = new Set([...table.map(({ operation }) => operation), ...testedSeparately]);
    assert.deepEqual([...operations].sort(), documented.sort());
  });

  for (const [
    n,
    { operation, variant = '', call, other, member = '403 NOT_ALLOWED', admin: expected = OK, ...row },
  ] of table.entries()) {
    test(`callers without access get no data and change nothing: ${operation} ${variant}`, async () => {
      const before = await snapshot();
      for (const [name, client] of callersOf(n)) {
        const response = await call(client, theirs);
        const authorized = name === 'member' ? member : other;
        assert.equal(
          outcomeOf(response),
          row.isPublic ? other : (tokenErrors[name] ?? authorized),
          `${name}: ${response.text}`,
        );
        if (row.revealsExistence || (name === 'member' && authorized === OK)) continue;
        if (!isLong && tokenErrors[name]) continue;
        const same = await call(client, absent);
        assert.equal(
          withoutIds(response, theirs),
          withoutIds(same, absent),
          `${name} can distinguish it from an unknown id`,
        );
      }
      assert.deepEqual(await snapshot(), before, 'the database changed');
      assert.equal(outcomeOf(await call(admin, theirs)), expected);
    });
  }

  test('lists contain no rows of other tenants', async () => {
    for (const outsider of [outsiders.sibling, outsiders.child]) {
      await outsider.createDepartment();
      for (const path of [dept, tenant, people]) {
        const { data } = await outsider.get(`${path}/list?pageSize=500`);
        const tenants = new Set(data.rows.map((each: { tenantId: string }) => each.tenantId));
        assert.deepEqual([...tenants], [outsider.tenantId], path);
      }
    }
  });

  test('a batch delete with an id of another tenant deletes nothing', async () => {
    const { sibling } = outsiders;
    const own = await sibling.createDepartment();
    const department = await sibling.delete(`${dept}/${own},${parent}`);
    assert.deepEqual([department.status, department.data.deptIds], [404, [Number(parent)]]);
    assert.equal((await sibling.get(`${dept}/${own}`)).code, 200);
    const person = await sibling.createUser({ userName: 'own' });
    const foreign = decodeJwt(String(admin.token)).sub;
    const users = await sibling.delete(`${people}/${person},${foreign}`);
    assert.deepEqual([users.status, users.data.userIds], [404, [Number(foreign)]]);
    assert.equal((await sibling.get(`${people}/${person}`)).code, 200);
  });

  for (const [path, body, id] of [
    [hook, disabledWebhook, 'id'],
    [keys, newKey, 'keyId'],
  ] as const) {
    test(`a record is created in the tenant of the caller, whatever tenant the body names: ${path}`, async () => {
      const before = await snapshot();
      for (const [name, client] of callers) {
        const error = name === 'member' ? '403 NOT_ALLOWED' : tokenErrors[name];
        if (error) assert.equal(outcomeOf(await client.post(path, body)), error, name);
      }
      assert.deepEqual(await snapshot(), before, 'the database changed');
      const idsOf = async (client: Client): Promise<number[]> =>
        (await client.get(`${path}/list`)).data.rows.map((row: Record<string, number>) => row[id]);
      const theirIds = await idsOf(admin);
      for (const outsider of [outsiders.sibling, outsiders.child]) {
        const { tenantId } = admin;
        const elsewhere = await outsider.post(`${path}?tenantId=${tenantId}`, body);
        assert.equal(outcomeOf(elsewhere), '400 UNKNOWN_PARAMETER');
        const created = await outsider.post(path, { ...body, tenantId });
        assert.equal(outcomeOf(created), OK);
        assert.deepEqual(await idsOf(outsider), [created.data[id]]);
      }
      assert.deepEqual(await idsOf(admin), theirIds);
    });
  }

  test('a logout ends only the session of the caller', async () => {
    const before = await snapshot();
    for (const name of ['anonymous', 'expired', 'tampered'] as const) {
      assert.equal(outcomeOf(await outsiders[name].post('/auth/logout')), tokenErrors[name]);
    }
    assert.deepEqual(await snapshot(), before, 'the database changed');
    for (const client of [outsiders.sibling, outsiders.child, outsiders.member]) {
      assert.equal(outcomeOf(await client.post('/auth/logout')), OK);
      assert.equal(outcomeOf(await client.get('/auth/me')), '401 SESSION_ENDED');
      assert.equal(outcomeOf(await admin.get('/auth/me')), OK);
    }
  });
}

/** Inserts a delivery as the dispatcher would if the webhook were not disabled. */
export async function insertDelivery(superuser: Sql, tenantId: string, webhookId: string): Promise<string> {
  const [row] = await superuser<[{ id: string }]>`
    insert into banyan.webhook_deliveries (tenant_id, webhook_id, delivery_id, type, resource, resource_id, retry_until, next_try)
    values (${tenantId}, ${webhookId}, nextval('banyan.delivery_serial'), 'webhook.test', 'webhook', ${webhookId},
      now(), now())
    returning delivery_id::text as id`;
  return row.id;
}

const outcomeOf = ({ status, data }: ApiResponse) => (data?.reason ? `${status} ${data.reason}` : String(status));
const tokenErrors: Record<string, string> = {
  anonymous: '401 NO_TOKEN',
  expired: '401 TOKEN_EXPIRED',
  tampered: '401 INVALID_TOKEN',
};

/**
 * These operations have tests of their own: each caller ends their own session, or creates their own webhook or key.
 * introspection.test.ts covers the last one, which only API keys may call.
 */
const testedSeparately = ['POST /auth/logout', `POST ${hook}`, `POST ${keys}`, 'POST /auth/introspect'];

/** The response without the ids of the request, which are all that may differ. */
const withoutIds = ({ status, text }: ApiResponse, target: Target) =>
  Object.values(target).reduce((rest, id) => rest.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), '#'), `${status} ${text}`);

/** A digest of each table, without those named here and the counters of failed logins, which guesses are meant to change. */
export async function readAll(superuser: Sql): Promise<unknown> {
  const tables = await superuser<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'banyan' and tablename not like 'login_%'
      -- Sealing and ordering run in the background; any write is visible in \`changes\`.
      and tablename not in ('unsealed_changes', 'seals', 'seal_heads', 'unordered_changes', 'change_positions',
        'change_order', 'webhook_subtree_marks') order by 1`;
  assert.ok(tables.length >= 5);
  // Failed logins are recorded as changes but modify nothing else.
  const rows = tables.map(
    ({ name }) => `
      select '${name}' as table, count(*) as rows, md5(string_agg(t::text, ';' order by t::text)) as digest
      from banyan.${name} t ${name.startsWith('changes') ? "where resource <> 'login'" : ''}`,
  );
  return readSerially(superuser, rows.join(' union all '));
}
