import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import type { Sql } from '../../db/sql.ts';
import { type Answer, Client, type Service } from '../support/service.ts';
import { craft, now, tamper } from '../support/tokens.ts';
import { absent, dept, FINE, type Named, people, table, tenant } from './cross-tenant-calls.ts';

/**
 * Every operation, called by those whom it is none of their business. The tenant they call upon has departments, users
 * and a tenant below it. `onlyLoggedIn` leaves out those whose token is refused before anything is read.
 */
export async function callStrangers(service: Service, { onlyLoggedIn = false } = {}): Promise<void> {
  const boss = await service.createTenant({ tenantName: 'theirs' });
  const below = await service.createTenant({ tenantName: 'below theirs' }, boss);
  const parent = await boss.createDepartment({ deptName: 'parent' });
  const leaf = await boss.createDepartment({ deptName: 'leaf' });
  const user = await boss.createUser({ userName: 'anna', deptId: parent });
  const webhook = await boss.create('/system/webhook-api', { url: 'https://93.184.216.34/', status: '1' });
  const { data: noted } = await boss.get('/system/change-api/list?below=false&limit=1&resource=department');
  const [goneDept, goneUser] = [await boss.createDepartment(), await boss.createUser({ userName: 'gone' })];
  const goneId = await boss.create(tenant, {});
  for (const path of [`${dept}/${goneDept}`, `${people}/${goneUser}`, `${tenant}/${goneId}`]) await boss.delete(path);
  const theirs: Named = {
    parent,
    leaf,
    user,
    goneDept,
    goneUser,
    goneId,
    // As long as it may be: the first ids are such numbers as stand in times too.
    change: String(noted.rows[0].id).padStart(19, '0'),
    code: boss.tenantId,
    id: boss.id,
    belowCode: below.tenantId,
    belowId: below.id,
    session: String(decodeJwt(String((await service.logIn(boss.tenantId, 'boss')).token)).sid),
    webhook,
    delivery: await makeDelivery(service.superuser, boss.tenantId, webhook),
  };
  const strangers = {
    sibling: await service.createTenant(),
    child: await service.createTenant({}, boss),
    member: await service.createMember(boss),
    anonymous: service.anonymous,
    // The rightful administrator's own, a second too late.
    expired: new Client(service.base, await craft(service, String(boss.token), { claims: { exp: now() - 1 } })),
    // A member's, with the administrator's id in it.
    tampered: await service
      .createMember(boss)
      .then(({ token }) => new Client(service.base, tamper(String(token), { sub: decodeJwt(String(boss.token)).sub }))),
  };
  const called = Object.entries(strangers).filter(([name]) => !onlyLoggedIn || !withoutToken[name]);
  const snapshot = () => readAll(service.superuser);

  test('every operation of the interface has its strangers', async () => {
    const { paths } = JSON.parse((await service.anonymous.get('/openapi.json')).text);
    const documented = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const operations = new Set([...table.map(({ operation }) => operation), ...elsewhere]);
    assert.deepEqual([...operations].sort(), documented.sort());
  });

  for (const { operation, as = '', call, other, member = '403 NOT_ALLOWED', boss: expected = FINE, ...row } of table) {
    test(`strangers call ${operation} ${as}`, async () => {
      const before = await snapshot();
      for (const [name, client] of called) {
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
      await stranger.createDepartment();
      for (const path of [dept, tenant, people]) {
        const { data } = await stranger.get(`${path}/list?pageSize=500`);
        const tenants = new Set(data.rows.map((each: { tenantId: string }) => each.tenantId));
        assert.deepEqual([...tenants], [stranger.tenantId], path);
      }
    }
  });

  test("a batch with another tenant's id in it deletes nothing", async () => {
    const { sibling } = strangers;
    const own = await sibling.createDepartment();
    const department = await sibling.delete(`${dept}/${own},${parent}`);
    assert.deepEqual([department.status, department.data.deptIds], [404, [Number(parent)]]);
    assert.equal((await sibling.get(`${dept}/${own}`)).code, 200);
    const person = await sibling.createUser({ userName: 'own' });
    const foreign = decodeJwt(String(boss.token)).sub;
    const users = await sibling.delete(`${people}/${person},${foreign}`);
    assert.deepEqual([users.status, users.data.userIds], [404, [Number(foreign)]]);
    assert.equal((await sibling.get(`${people}/${person}`)).code, 200);
  });

  test('strangers log out: their own session is all that ends', async () => {
    const before = await snapshot();
    for (const name of ['anonymous', 'expired', 'tampered'] as const) {
      assert.equal(reasonOf(await strangers[name].post('/auth/logout')), withoutToken[name]);
    }
    assert.deepEqual(await snapshot(), before, 'something has changed');
    for (const client of [strangers.sibling, strangers.child, strangers.member]) {
      assert.equal(reasonOf(await client.post('/auth/logout')), FINE);
      assert.equal(reasonOf(await client.get('/auth/me')), '401 SESSION_ENDED');
      assert.equal(reasonOf(await boss.get('/auth/me')), FINE);
    }
  });
}

/** As the dispatcher would make it, if the webhook were not disabled. */
export async function makeDelivery(superuser: Sql, tenantId: string, webhookId: string): Promise<string> {
  const [row] = await superuser<[{ id: string }]>`
    insert into banyan.webhook_deliveries (tenant_id, webhook_id, delivery_id, type, resource, resource_id, give_up, next_try)
    values (${tenantId}, ${webhookId}, nextval('banyan.delivery_serial'), 'webhook.test', 'webhook', ${webhookId},
      now(), now())
    returning delivery_id::text as id`;
  return row.id;
}

const reasonOf = ({ status, data }: Answer) => (data?.reason ? `${status} ${data.reason}` : String(status));
const withoutToken: Record<string, string> = {
  anonymous: '401 NO_TOKEN',
  expired: '401 TOKEN_EXPIRED',
  tampered: '401 INVALID_TOKEN',
};

/** Not in the table, but in a test of its own: it ends the session of who calls it. */
const elsewhere = ['POST /auth/logout'];

/** An answer without the ids that the call named: they are all that may differ. */
const unnamed = ({ status, text }: Answer, named: Named) =>
  Object.values(named).reduce((rest, id) => rest.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), '#'), `${status} ${text}`);

/** A digest of every table, but what counts failed logins: guesses are meant to leave a trace there. */
async function readAll(superuser: Sql): Promise<unknown> {
  const tables = await superuser<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'banyan' and tablename not like 'login_%'
      -- Seals follow what is written; whatever strangers write is seen in \`changes\`.
      and tablename not in ('unsealed', 'seals', 'seal_heads') order by 1`;
  assert.ok(tables.length >= 5);
  // Refused logins are noted, and change nothing.
  const rows = tables.map(
    ({ name }) => `
      select '${name}' as table, count(*) as rows, md5(string_agg(t::text, ';' order by t::text)) as digest
      from banyan.${name} t ${name.startsWith('changes') ? "where resource <> 'login'" : ''}`,
  );
  return superuser.unsafe(rows.join(' union all '));
}
