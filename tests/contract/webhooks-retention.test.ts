import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveLedger } from '../../server/ledger/archive.ts';
import { DEPTS, expectError, expectOk } from '../support/expect.ts';
import { Receiver } from '../support/receiver.ts';
import { type Client, FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Webhooks with deliveries that are days old, or with a thousand of them. Tests age deliveries by changing timestamps in the database. */

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: FAST_WEBHOOK_POLLING });
const { superuser, owner } = service;
const path = '/system/webhook-api';

async function register(admin: Client, receiver: Receiver): Promise<number> {
  const { data, text } = await admin.post(path, { url: receiver.url, kinds: ['department.*'] });
  assert.ok(data?.id, text);
  return data.id;
}

/** Lists the deliveries of a webhook, the earliest first. */
const listDeliveries = async (admin: Client, id: number) =>
  (await admin.get(`${path}/${id}/deliveries?limit=500`)).data.rows.reverse();
const countWaiting = async (admin: Client, id: number): Promise<number> =>
  (await admin.get(`${path}/${id}`)).data.waiting;

/** Ages all deliveries of a webhook, makes every scheduled attempt due now, and ends a pause of the webhook. */
async function letPass(id: number, time: string) {
  await superuser.begin(async (tx) => {
    // The service, too, locks the webhook before its deliveries.
    await tx`update banyan.webhooks set next_due = now(), paused_until = null where webhook_id = ${id}`;
    await tx`
      update banyan.webhook_deliveries set time = time - ${time}::text::interval, retry_until = retry_until - ${time}::text::interval,
        next_try = case when next_try < 'infinity' then now() else next_try end
      where webhook_id = ${id}`;
  });
}

test('a delivery fails after three days and can be resent, and the next delivery of its record is tried', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start(() => 500);
  const id = await register(admin, receiver);
  const dept = await admin.createDepartment({ deptName: 'v0' });
  const attempts = async (n: number): Promise<number> => (await listDeliveries(admin, id))[n]?.attempts ?? 0;
  await waitFor('the delivery is tried', async () => (await attempts(0)) > 0);
  // On a slow machine there may be extra attempts, so each wait only checks that the number has grown.
  const before = await attempts(0);
  await letPass(id, '71 hours');
  await waitFor('the delivery is tried again', async () => (await attempts(0)) > before);
  assert.equal((await listDeliveries(admin, id))[0].state, 'waiting', 'one hour remains before it fails');
  await admin.put(DEPTS, { deptId: dept, deptName: 'v1' });
  await waitFor('a second delivery waits behind the first', async () => (await listDeliveries(admin, id)).length === 2);
  assert.equal(await attempts(1), 0);
  // The next attempt would be after the three days.
  await letPass(id, '59 minutes 59 seconds');
  await waitFor('the delivery fails', async () => (await listDeliveries(admin, id))[0].state === 'failed');
  const [first] = await listDeliveries(admin, id);
  const sent = receiver.all.filter(({ id }) => id === first.messageId).length;
  assert.deepEqual([first.attempts, first.nextTry, first.lastStatus], [sent, null, 500]);
  await letPass(id, '0');
  await waitFor('the second delivery is tried', async () => (await attempts(1)) > 0);
  assert.equal(await attempts(0), first.attempts, 'the failed delivery is not tried again');
  receiver.respond = () => 200;
  expectOk(await admin.post(`${path}/${id}/deliveries/${first.id}/resend`));
  await letPass(id, '0');
  await waitFor('everything is delivered', async () => (await countWaiting(admin, id)) === 0);
  assert.deepEqual(receiver.accepted.map(({ data }) => data.after.deptName).sort(), ['v0', 'v1']);
  assert.equal(receiver.accepted.find(({ data }) => data.after.deptName === 'v0')?.id, first.messageId);
});

test('finished deliveries are kept for 30 days, waiting ones until they are finished', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start(({ data }) => (data.after.deptName === 'bad' ? 500 : 200));
  const id = await register(admin, receiver);
  for (const deptName of ['bad', 'old']) await admin.createDepartment({ deptName });
  await waitFor(
    'both deliveries were tried',
    async () => (await countWaiting(admin, id)) === 1 && receiver.accepted.length === 1,
  );
  const [bad, old] = await listDeliveries(admin, id);
  await superuser`update banyan.webhook_deliveries set time = now() - interval '31 days' where webhook_id = ${id}`;
  await admin.createDepartment({ deptName: 'young' });
  await waitFor('the next message arrives', () => receiver.accepted.length === 2);
  await waitFor('the old delivery is removed', async () => (await listDeliveries(admin, id)).length === 2);
  const [waiting, young] = await listDeliveries(admin, id);
  assert.deepEqual([waiting.id, waiting.state], [bad.id, 'waiting']);
  await superuser`
    update banyan.webhook_deliveries set time = now() - interval '29 days' where delivery_id = ${young.id}`;
  await admin.createDepartment({ deptName: 'younger' });
  await waitFor('the next message arrives', () => receiver.accepted.length === 3);
  const isIdle = async () => {
    const [row] = await superuser`select lease_id from banyan.webhooks where webhook_id = ${id}`;
    return row?.lease_id === null;
  };
  await waitFor('no dispatcher has claimed the webhook', isIdle);
  assert.equal((await listDeliveries(admin, id)).length, 3, 'no other delivery is removed');
  expectError(await admin.post(`${path}/${id}/deliveries/${old.id}/resend`), 404, 'DELIVERY_NOT_FOUND');
});

test('at most 1,000 deliveries wait, further changes follow later, and all arrive', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start(() => 500);
  const id = await register(admin, receiver);
  // Insert 990 waiting deliveries that are never due. Claim the webhook so that no dispatcher processes it meanwhile.
  await superuser.begin(async (tx) => {
    await tx`
      update banyan.webhooks set waiting = 990, lease_id = gen_random_uuid(), lease_until = 'infinity' where webhook_id = ${id}`;
    await tx`
      insert into banyan.webhook_deliveries (tenant_id, webhook_id, delivery_id, type, resource, resource_id, retry_until, next_try)
      select ${admin.tenantId}, ${id}, nextval('banyan.delivery_serial'), 'department.updated', 'department', -n,
        now() + interval '3 days', 'infinity'
      from generate_series(1, 990) n`;
  });
  const departments = Array.from({ length: 30 }, (_, n) => ({ ref: `${n}`, deptName: `d${n}` }));
  assert.equal((await admin.post(`${DEPTS}/bulk`, { departments })).code, 200);
  await superuser`update banyan.webhooks set lease_until = '-infinity' where webhook_id = ${id}`;
  await waitFor('1,000 deliveries wait', async () => (await countWaiting(admin, id)) >= 1_000);
  const before = receiver.all.length;
  // Repeat letPass: an attempt in flight pauses the webhook again when it fails.
  await waitFor('the webhook is tried again', async () => {
    await letPass(id, '0');
    return receiver.all.length > before;
  });
  assert.equal(await countWaiting(admin, id), 1_000);
  receiver.respond = () => 200;
  await superuser`delete from banyan.webhook_deliveries where webhook_id = ${id} and resource_id < 0`;
  expectOk(await admin.put(path, { id, url: receiver.url, kinds: ['department.*'] }));
  await waitFor('all 30 changes arrive', async () => {
    await letPass(id, '0');
    return new Set(receiver.accepted.map(({ data }) => data.id)).size === 30;
  });
  await waitFor('no delivery waits', async () => (await countWaiting(admin, id)) === 0);
});

const ageChanges = (tenantId: string, days: number) => superuser`
  update banyan.changes set time = time - ${days} * interval '1 day' where tenant_id = ${tenantId}`;
const countArchived = async (tenantId: string): Promise<number> =>
  (await superuser`select from banyan.changes_archive where tenant_id = ${tenantId} and resource = 'department'`)
    .length;

test('a change that waits for delivery is not archived, and a deleted change cannot be resent', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start(() => 500);
  const id = await register(admin, receiver);
  const dept = await admin.createDepartment({ deptName: 'v0' });
  for (const deptName of ['v1', 'v2']) await admin.put(DEPTS, { deptId: dept, deptName });
  await waitFor('all three deliveries wait', async () => (await countWaiting(admin, id)) === 3);
  await ageChanges(admin.tenantId, 10);
  await archiveLedger(owner, 1);
  assert.equal(await countArchived(admin.tenantId), 0);
  receiver.respond = () => 200;
  await admin.put(path, { id, url: receiver.url, kinds: ['department.*'] });
  await waitFor('all three are delivered', async () => (await countWaiting(admin, id)) === 0);
  assert.deepEqual(
    receiver.accepted.map(({ data }) => data.after.deptName),
    ['v0', 'v1', 'v2'],
  );
  await archiveLedger(owner, 1);
  assert.equal(await countArchived(admin.tenantId), 1, 'only v1 is archived: the creation and the latest change stay');
  const [first, second] = await listDeliveries(admin, id);
  expectOk(await admin.post(`${path}/${id}/deliveries/${second.id}/resend`));
  await waitFor('the archived change is resent', () => receiver.accepted.length === 4);
  assert.equal(receiver.accepted[3]?.body, receiver.accepted[1]?.body);
  await waitFor('the delivery is recorded', async () => (await countWaiting(admin, id)) === 0);
  await superuser`delete from banyan.changes_archive where tenant_id = ${admin.tenantId}`;
  expectError(await admin.post(`${path}/${id}/deliveries/${second.id}/resend`), 409, 'DELIVERY_TOO_OLD');
  expectOk(await admin.post(`${path}/${id}/deliveries/${first.id}/resend`));
  await waitFor('the change that was kept is resent', () => receiver.accepted.length === 5);
  // A resend requested just before the change was deleted must send nothing rather than an empty message.
  await superuser`
    update banyan.webhook_deliveries set state = 'waiting', next_try = now(), retry_until = now() + interval '1 day'
    where delivery_id = ${second.id}`;
  await letPass(id, '0');
  await waitFor(
    'the delivery shows the error',
    async () => (await listDeliveries(admin, id))[1].lastError === 'the change is no longer available',
  );
  assert.equal(receiver.all.filter(({ id }) => id === second.messageId).length, 2);
});

test('a change that a webhook has not read yet is not archived for three days', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  const id = await register(admin, receiver);
  // Claim the webhook for a dispatcher that does not exist, so that no real one processes or releases it.
  await superuser`
    update banyan.webhooks set lease_id = gen_random_uuid(), lease_until = 'infinity' where webhook_id = ${id}`;
  const dept = await admin.createDepartment({ deptName: 'v0' });
  for (const deptName of ['v1', 'v2']) await admin.put(DEPTS, { deptId: dept, deptName });
  await admin.get('/system/change-api');
  await ageChanges(admin.tenantId, 2);
  await archiveLedger(owner, 1);
  assert.equal(await countArchived(admin.tenantId), 0);
  await ageChanges(admin.tenantId, 2);
  await archiveLedger(owner, 1);
  assert.equal(await countArchived(admin.tenantId), 1);
  await superuser`delete from banyan.changes_archive where tenant_id = ${admin.tenantId}`;
  await superuser`update banyan.webhooks set lease_until = '-infinity' where webhook_id = ${id}`;
  await waitFor('the changes that were kept arrive', () => receiver.accepted.length === 2);
  assert.ok(receiver.accepted.every(({ data }) => data !== null));
});
