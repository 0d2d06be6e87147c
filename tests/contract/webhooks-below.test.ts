import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, expectOk, TENANTS } from '../support/expect.ts';
import { Receiver } from '../support/receiver.ts';
import { FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Webhooks that receive the changes of all tenants below. */

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: FAST_WEBHOOK_POLLING });
const path = '/system/webhook-api';

test('a webhook of the platform with `below` receives the changes of all tenants, each with its tenantId', async () => {
  const reseller = await service.createTenant();
  await reseller.createDepartment({ deptName: 'before the webhook' });
  const receiver = await Receiver.start();
  await service.root.create(path, { url: receiver.url, kinds: ['department.*', 'tenant.created'], below: true });
  const team = await service.createTenant({}, reseller);
  const expected = [`${team.tenantId} tenant.created`];
  for (const client of [team, reseller, service.root, team]) {
    await client.createDepartment();
    expected.push(`${client.tenantId} department.created`);
  }
  await waitFor('all messages have arrived', () => receiver.accepted.length >= expected.length);
  const received = receiver.accepted.map(({ type, data }) => `${data.tenantId} ${type}`);
  assert.deepEqual(received.sort(), expected.sort());
});

test('a webhook with `below` receives no changes of sibling tenants, and one without it none of the tenants below', async () => {
  const top = await service.createTenant();
  const team = await service.createTenant({}, top);
  const sibling = await service.createTenant();
  const [withBelow, without] = [await Receiver.start(), await Receiver.start()];
  const id = await top.create(path, { url: withBelow.url, kinds: ['department.*'], below: true });
  await top.create(path, { url: without.url, kinds: ['department.*'] });
  await sibling.createDepartment();
  await team.createDepartment({ deptName: 'in the team' });
  await top.createDepartment({ deptName: 'at the top' });
  await waitFor('all messages have arrived', () => withBelow.accepted.length >= 2 && without.accepted.length >= 1);
  const names = ({ accepted }: Receiver) => accepted.map(({ data }) => data.after.deptName).sort();
  assert.deepEqual(names(withBelow), ['at the top', 'in the team']);
  assert.deepEqual(names(without), ['at the top']);
  assert.equal(without.accepted[0]?.data.tenantId, undefined);
  const { rows } = (await top.get(`${path}/${id}/deliveries`)).data;
  assert.deepEqual(
    rows.map(({ tenantId }: { tenantId: string }) => tenantId).sort(),
    [top.tenantId, team.tenantId].sort(),
  );
});

test('`below` is shown, kept by updates, and cannot be changed', async () => {
  const admin = await service.createTenant();
  const settings = { url: 'http://127.0.0.1:9/', status: '1' };
  const id = await admin.create(path, { ...settings, below: true });
  assert.equal((await admin.get(`${path}/${id}`)).data.below, true);
  expectOk(await admin.put(path, { id, ...settings }));
  expectOk(await admin.put(path, { id, ...settings, below: true }));
  expectError(await admin.put(path, { id, ...settings, below: false }), 409, 'WEBHOOK_BELOW_FIXED');
  assert.equal((await admin.get(`${path}/${id}`)).data.below, true);
});

test('changes wait while the webhook is disabled; those of a tenant that left meanwhile are not sent, except for its move', async () => {
  const top = await service.createTenant();
  const [stays, leaves] = [await service.createTenant({}, top), await service.createTenant({}, top)];
  const receiver = await Receiver.start();
  const settings = { url: receiver.url, kinds: ['department.*', 'tenant.moved'] };
  const id = await top.create(path, { ...settings, status: '1', below: true });
  await leaves.createDepartment();
  await stays.createDepartment({ deptName: 'first' });
  const { data } = await service.root.get(`${TENANTS}/${leaves.id}`);
  expectOk(await service.root.put(TENANTS, { ...data, tenantParent: '000000' }));
  await stays.createDepartment({ deptName: 'second' });
  expectOk(await top.put(path, { id, ...settings, status: '0' }));
  await waitFor('the last message has arrived', () => receiver.accepted.length >= 3);
  assert.deepEqual(
    receiver.accepted.map(({ type, data }) => `${data.tenantId} ${type} ${data.after?.deptName}`).sort(),
    [
      `${leaves.tenantId} tenant.moved undefined`,
      `${stays.tenantId} department.created first`,
      `${stays.tenantId} department.created second`,
    ].sort(),
  );
  const delivered = async () => (await top.get(`${path}/${id}`)).data.waiting === 0;
  await waitFor('nothing is pending', delivered);
  assert.equal(receiver.all.length, 3);
});

test('deliveries of a tenant that left fail at once, and do not count as failures of the receiver', async () => {
  const top = await service.createTenant();
  const [stays, leaves] = [await service.createTenant({}, top), await service.createTenant({}, top)];
  const receiver = await Receiver.start(() => 500);
  const id = await top.create(path, { url: receiver.url, kinds: ['department.*'], below: true });
  for (let n = 0; n < 5; n++) await leaves.createDepartment();
  const webhook = async () => (await top.get(`${path}/${id}`)).data;
  await waitFor('all changes are queued', async () => (await webhook()).waiting === 5);
  // Wait until the webhook is paused, so that no message that was built before the move is sent after it.
  await waitFor('the webhook is paused and no attempt is in flight', async () => {
    const paused = await service.superuser`
      select from banyan.webhooks where webhook_id = ${id} and paused_until > now() and lease_until < now()`;
    return paused.length === 1;
  });
  const { data } = await service.root.get(`${TENANTS}/${leaves.id}`);
  expectOk(await service.root.put(TENANTS, { ...data, tenantParent: '000000' }));
  await stays.createDepartment({ deptName: 'stays' });
  receiver.respond = () => 200;
  await waitFor('no dispatcher is sending', async () => {
    // Let the pause and the waits pass, but not while a dispatcher is about to set them again.
    const { count } = await service.superuser`
      with free as (
        select webhook_id from banyan.webhooks where webhook_id = ${id} and lease_until < now() for update skip locked
      ), retried as (
        update banyan.webhook_deliveries set next_try = now() where webhook_id in (table free) and state = 'waiting'
      )
      update banyan.webhooks set next_due = now(), paused_until = null where webhook_id in (table free)`;
    return count === 1;
  });
  await waitFor('the change of the other tenant arrives', () => receiver.accepted.length === 1);
  assert.deepEqual(
    [receiver.accepted[0]?.data.tenantId, receiver.accepted[0]?.data.after.deptName],
    [stays.tenantId, 'stays'],
  );
  const settled = await waitFor('all deliveries are recorded', async () => {
    const { rows } = (await top.get(`${path}/${id}/deliveries`)).data;
    const errors = rows.filter(
      ({ lastError }: { lastError: string }) => lastError === 'the change is no longer available',
    );
    return errors.length === 5 && rows.every(({ lastTime }: { lastTime: string | null }) => lastTime)
      ? rows
      : undefined;
  });
  assert.deepEqual(settled.map(({ state }: { state: string }) => state).sort(), [
    'delivered',
    ...Array(5).fill('failed'),
  ]);
  const { waiting, failures } = await webhook();
  assert.deepEqual([waiting, failures], [0, 0]);
});
