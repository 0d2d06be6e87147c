import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';

/**
 * A client that reads the changes of a tenant can always tell which tenants are below it. The first test shows this;
 * the others are about reverts and the cursor of the audit log.
 */

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' });

async function positionOf(client: Client): Promise<string> {
  const { data } = await client.get(`${CHANGES}?limit=1000`);
  return data.next;
}
/** The tenant changes that a client sees after a position: action, id, author, old parent and new parent. */
async function tenantChanges(client: Client, after: string) {
  const { data } = await client.get(`${CHANGES}?after=${after}&limit=1000`);
  const rows = data.rows.filter(({ resource }: { resource: string }) => resource === 'tenant');
  return rows.map(({ action, resourceId: id, by, before, after: current }: TenantChange) => {
    return { action, id, by, from: before?.tenantParent ?? null, to: current?.tenantParent ?? null };
  });
}
interface TenantChange {
  action: string;
  resourceId: string;
  by: string;
  before: { tenantParent: string } | null;
  after: { tenantParent: string } | null;
}

async function moveTenant() {
  const above = await service.createTenant();
  const [from, to] = [await service.createTenant({}, above), await service.createTenant({}, above)];
  const team = await service.createTenant({}, from);
  const group = await service.createTenant({}, team);
  const positions = await Promise.all([above, from, to, team, group].map(positionOf));
  const { data } = await above.get(`/system/tenant-api/${team.id}`);
  const response = await above.put('/system/tenant-api', { ...data, tenantParent: to.tenantId });
  assert.equal(response.code, 200, response.text);
  return { above, from, to, team, group, positions };
}

test('moving a tenant is recorded for its old and new parents, together with the moves of the tenants below it', async () => {
  const { above, from, to, team, group, positions } = await moveTenant();
  const [atTop, atFrom, atTo, atTeam, atGroup] = await Promise.all(
    [above, from, to, team, group].map((client, n) => tenantChanges(client, positions[n] as string)),
  );
  const move = { action: 'moved', id: team.id, by: 'boss' };
  assert.deepEqual(atTop, [{ ...move, from: from.tenantId, to: to.tenantId }]);
  // The tenant itself no longer sees its former parent.
  assert.deepEqual(atTeam, [{ ...move, from: null, to: to.tenantId }]);
  const childMove = { action: 'moved', id: group.id, by: 'boss' };
  assert.deepEqual(atFrom, [
    { ...move, from: from.tenantId, to: null },
    { ...childMove, from: team.tenantId, to: null },
  ]);
  // The new parent must not learn where the tenant was before.
  assert.deepEqual(atTo, [
    { ...move, from: null, to: to.tenantId },
    { ...childMove, from: null, to: team.tenantId },
  ]);
  assert.deepEqual(atGroup, []);
});

test('only a tenant above both the old and the new parent can revert a move', async () => {
  const { above, from, to, team } = await moveTenant();
  const last = async (client: Client) => {
    const { data } = await client.get(`${CHANGES}/list?resource=tenant&below=false&action=moved&limit=100`);
    return data.rows.find(({ resourceId }: { resourceId: string }) => resourceId === team.id).id;
  };
  for (const client of [from, to]) {
    const response = await client.post(`${CHANGES}/${await last(client)}/revert`);
    assert.equal(response.data?.reason, 'CHANGE_IRREVERSIBLE', response.text);
  }
  const response = await above.post(`${CHANGES}/${await last(above)}/revert`);
  assert.equal(response.code, 200, response.text);
  const { data } = await above.get(`/system/tenant-api/${team.id}`);
  assert.equal(data.tenantParent, from.tenantId);
});

test('a change of a webhook cannot be reverted', async () => {
  const admin = await service.createTenant();
  await admin.post('/system/webhook-api', { name: 'one', url: 'http://127.0.0.1:9/x', kinds: ['*'], status: '1' });
  const { data } = await admin.get(`${CHANGES}/list?limit=1`);
  assert.equal(data.rows[0].resource, 'webhook');
  const response = await admin.post(`${CHANGES}/${data.rows[0].id}/revert`);
  assert.equal(response.data?.reason, 'CHANGE_IRREVERSIBLE', response.text);
});

test('an empty cursor returns the first page of the audit log', async () => {
  const admin = await service.createTenant();
  const { data } = await admin.get(`${CHANGES}/list`);
  assert.ok(data.rows.length > 0);
  assert.deepEqual((await admin.get(`${CHANGES}/list?cursor=`)).data, data);
});
