import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, QUICK_WEBHOOKS, startService } from '../support/service.ts';

/** Whoever follows a tenant knows at each moment which tenants are below it. */

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: QUICK_WEBHOOKS });
const feed = '/system/change-api';

async function placeOf(client: Client): Promise<string> {
  const { data } = await client.get(`${feed}?limit=1000`);
  return data.next;
}
/** What a client's ledger says of tenants after a place: action, id, where it was and where it is. */
async function heard(client: Client, after: string) {
  const { data } = await client.get(`${feed}?after=${after}&limit=1000`);
  const told = data.rows.filter(({ resource }: { resource: string }) => resource === 'tenant');
  return told.map(({ action, resourceId: id, by, before, after: became }: Told) => {
    return { action, id, by, from: before?.tenantParent ?? null, to: became?.tenantParent ?? null };
  });
}
interface Told {
  action: string;
  resourceId: string;
  by: string;
  before: { tenantParent: string } | null;
  after: { tenantParent: string } | null;
}

async function moved() {
  const above = await service.createTenant();
  const [from, to] = [await service.createTenant({}, above), await service.createTenant({}, above)];
  const team = await service.createTenant({}, from);
  const group = await service.createTenant({}, team);
  const places = await Promise.all([above, from, to, team, group].map(placeOf));
  const { data } = await above.get(`/system/tenant-api/${team.id}`);
  const answer = await above.put('/system/tenant-api', { ...data, tenantParent: to.tenantId });
  assert.equal(answer.code, 200, answer.text);
  return { above, from, to, team, group, places };
}

test('a tenant that moves is gone where it was and new where it comes, with those below it', async () => {
  const { above, from, to, team, group, places } = await moved();
  const [atTop, atFrom, atTo, atTeam, atGroup] = await Promise.all(
    [above, from, to, team, group].map((client, n) => heard(client, places[n] as string)),
  );
  const move = { action: 'moved', id: team.id, by: 'boss' };
  assert.deepEqual(atTop, [{ ...move, from: from.tenantId, to: to.tenantId }]);
  assert.deepEqual(atTeam, [{ ...move, from: from.tenantId, to: to.tenantId }]);
  const along = { action: 'moved', id: group.id, by: 'boss' };
  assert.deepEqual(atFrom, [
    { ...move, from: from.tenantId, to: null },
    { ...along, from: team.tenantId, to: null },
  ]);
  // Not where it was before: that is no business of those it comes to.
  assert.deepEqual(atTo, [
    { ...move, from: null, to: to.tenantId },
    { ...along, from: null, to: team.tenantId },
  ]);
  assert.deepEqual(atGroup, []);
});

test('the move is reverted by who reaches both places, and by nobody else', async () => {
  const { above, from, to, team } = await moved();
  const last = async (client: Client) => {
    const { data } = await client.get(`${feed}/list?resource=tenant&below=false&action=moved&limit=100`);
    return data.rows.find(({ resourceId }: { resourceId: string }) => resourceId === team.id).id;
  };
  for (const client of [from, to]) {
    const answer = await client.post(`${feed}/${await last(client)}/revert`);
    assert.equal(answer.data?.reason, 'CHANGE_IRREVERSIBLE', answer.text);
  }
  const answer = await above.post(`${feed}/${await last(above)}/revert`);
  assert.equal(answer.code, 200, answer.text);
  const { data } = await above.get(`/system/tenant-api/${team.id}`);
  assert.equal(data.tenantParent, from.tenantId);
});

test('a change of a webhook is refused by revert', async () => {
  const boss = await service.createTenant();
  await boss.post('/system/webhook-api', { name: 'one', url: 'http://127.0.0.1:9/x', kinds: ['*'], status: '1' });
  const { data } = await boss.get(`${feed}/list?limit=1`);
  assert.equal(data.rows[0].resource, 'webhook');
  const answer = await boss.post(`${feed}/${data.rows[0].id}/revert`);
  assert.equal(answer.data?.reason, 'CHANGE_IRREVERSIBLE', answer.text);
});

test('an empty cursor asks for the first page of the audit log', async () => {
  const boss = await service.createTenant();
  const { data } = await boss.get(`${feed}/list`);
  assert.ok(data.rows.length > 0);
  assert.deepEqual((await boss.get(`${feed}/list?cursor=`)).data, data);
});
