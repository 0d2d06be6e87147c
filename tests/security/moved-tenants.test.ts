import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS, expectOk, TENANTS } from '../support/expect.ts';
import { type Client, shareService } from '../support/service.ts';

/** A tenant that was moved elsewhere, and its new parent, learn nothing about the former parent. */

const service = await shareService();
const FORMER_ADDRESS = '127.0.0.7';

/** Moves a tenant from one parent to another. An administrator of each parent has changed it. */
async function moveTenant() {
  const above = await service.createTenant();
  const createParent = (username: string) => above.create(TENANTS, { username, password: 'long-enough-1' });
  const codeOf = async (id: string) => (await above.get(`${TENANTS}/${id}`)).data.tenantId as string;
  const [fromCode, toCode] = [await codeOf(await createParent('former')), await codeOf(await createParent('present'))];
  const from = await service.logIn(fromCode, 'former', 'long-enough-1');
  const to = await service.logIn(toCode, 'present', 'long-enough-1');
  const team = await service.createTenant({}, from);
  await from.put(TENANTS, { id: team.id, tenantName: 'by the former' }, { from: FORMER_ADDRESS });
  const inTeam = `tenantId=${team.tenantId}`;
  expectOk(await from.post(`${DEPTS}?${inTeam}`, { deptName: 'by the former' }, { from: FORMER_ADDRESS }));
  const before = await team.get(`${TENANTS}/${team.id}`);
  assert.equal(before.data.tenantParent, fromCode);
  const time = (await service.superuser`select clock_timestamp()::text as now`)[0]?.now;
  const { data } = await above.get(`${TENANTS}/${team.id}`);
  await above.put(TENANTS, { ...data, tenantParent: toCode });
  await to.put(TENANTS, { id: team.id, tenantName: 'by the present' });
  return { above, to, team, fromCode, toCode, time };
}

interface Row {
  by: string;
  byTenantId: string | null;
  byUserId: number | null;
  address: string | null;
  action: string;
  resource: string;
  before: { tenantParent: string | null } | null;
  after: { tenantParent: string | null } | null;
}

const auditOf = async (client: Client, query: string): Promise<Row[]> => {
  const { data, text } = await client.get(`${CHANGES}/list?resource=tenant&limit=500&${query}`);
  assert.ok(data.rows, text);
  return data.rows;
};

test('feed, audit log and past reads of a moved tenant hide the former parent and its administrator', async () => {
  const { above, to, team, fromCode, toCode, time } = await moveTenant();
  const inTeam = `tenantId=${team.tenantId}`;
  for (const [client, query] of [
    [team, ''],
    [to, inTeam],
  ] as const) {
    const rows = await auditOf(client, `${query}&below=false`);
    const feed = await client.get(`${CHANGES}?limit=500&${query}`);
    const past = await client.get(
      `${TENANTS}/${team.id}?asOf=${encodeURIComponent(time.replace(' ', 'T').replace(/\+00$/, 'Z'))}`,
    );
    assert.equal(past.data.tenantParent, null, past.text);
    for (const text of [JSON.stringify(rows), feed.text]) {
      for (const secret of [fromCode, FORMER_ADDRESS, '"by":"former"']) assert.ok(!text.includes(secret), secret);
    }
    const hidden = rows.filter(({ by }) => by === '');
    assert.deepEqual(
      hidden.map(({ action, byTenantId, byUserId, address }) => ({ action, byTenantId, byUserId, address })),
      [
        { action: 'updated', byTenantId: null, byUserId: null, address: null },
        { action: 'created', byTenantId: null, byUserId: null, address: null },
      ],
    );
    // The former administrator cannot be found by guessing their name, neither as a whole nor character by character.
    for (const search of ['by=former', 'byPart=former', 'byPart=F']) {
      const { data } = await client.get(`${CHANGES}/list?limit=1&${query}&${search}`);
      assert.deepEqual(data, { rows: [], next: null }, search);
    }
  }
  // The administrator of the present parent is named, like everybody who acts in a tenant below, but without their address.
  const [latest, move] = (await auditOf(team, '')) as [Row, Row];
  assert.deepEqual([latest.by, latest.byTenantId, latest.address], ['present', toCode, null]);
  assert.deepEqual([move.action, move.before?.tenantParent, move.after?.tenantParent], ['moved', null, toCode]);
  // A tenant above both sees everything.
  for (const search of ['by=former', 'byPart=ORME']) {
    const all = await auditOf(above, `${inTeam}&${search}`);
    assert.deepEqual([all[0]?.by, all[0]?.byTenantId, all[0]?.address], ['former', fromCode, FORMER_ADDRESS], search);
  }
  assert.equal((await auditOf(above, inTeam))[1]?.before?.tenantParent, fromCode);
});

test('a record keeps the name of the former administrator who wrote it, and shows nothing else about them', async () => {
  const { to, team, fromCode } = await moveTenant();
  for (const [client, query] of [
    [team, ''],
    [to, `tenantId=${team.tenantId}`],
  ] as const) {
    const list = await client.get(`${DEPTS}/list?${query}`);
    assert.equal(list.data.rows[0].createBy, 'former');
    const audit = await client.get(`${CHANGES}/list?resource=department&${query}`);
    const [{ by, byTenantId, byUserId, address, after }] = audit.data.rows;
    assert.deepEqual([by, byTenantId, byUserId, address, after.createBy], ['', null, null, null, 'former']);
    for (const { text } of [list, audit]) {
      for (const secret of [fromCode, FORMER_ADDRESS]) assert.ok(!text.includes(secret), secret);
    }
  }
});
