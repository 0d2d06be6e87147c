import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveLedger } from '../../db/ledger.ts';
import { DEPTS, expectError, expectOk } from '../support/expect.ts';
import { Receiver } from '../support/receiver.ts';
import { type Client, QUICK_WEBHOOKS, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** What days and thousands do to webhooks. Time passes by what was written being made older, around the service. */

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: QUICK_WEBHOOKS });
const { superuser, owner } = service;
const path = '/system/webhook-api';

async function register(boss: Client, receiver: Receiver): Promise<number> {
  const { data, text } = await boss.post(path, { url: receiver.url, kinds: ['department.*'] });
  assert.ok(data?.id, text);
  return data.id;
}

/** The earliest first. */
const deliveries = async (boss: Client, id: number) =>
  (await boss.get(`${path}/${id}/deliveries?limit=500`)).data.rows.reverse();
const waiting = async (boss: Client, id: number): Promise<number> => (await boss.get(`${path}/${id}`)).data.waiting;

/** Of a webhook all deliveries were made so long ago; those that have their turn are due, and it is not left alone. */
async function letPass(id: number, time: string) {
  await superuser`
    update banyan.webhook_deliveries set time = time - ${time}::text::interval, give_up = give_up - ${time}::text::interval,
      next_try = case when next_try < 'infinity' then now() else next_try end
    where webhook_id = ${id}`;
  await superuser`update banyan.webhooks set next_due = now(), rest_until = null where webhook_id = ${id}`;
}

test('after three days it is given up, the next of its record has its turn, and it can be sent again', async () => {
  const boss = await service.createTenant();
  const receiver = await Receiver.start(() => 500);
  const id = await register(boss, receiver);
  const dept = await boss.createDepartment({ deptName: 'v0' });
  const attempts = async (n: number): Promise<number> => (await deliveries(boss, id))[n]?.attempts ?? 0;
  await waitFor('it is tried', async () => (await attempts(0)) > 0);
  // On a slow machine it may be tried more often than this test asks for: only what each wait adds counts.
  const before = await attempts(0);
  await letPass(id, '71 hours');
  await waitFor('it is tried again', async () => (await attempts(0)) > before);
  assert.equal((await deliveries(boss, id))[0].state, 'waiting', 'an hour is left');
  await boss.put(DEPTS, { deptId: dept, deptName: 'v1' });
  await waitFor('another waits behind it', async () => (await deliveries(boss, id)).length === 2);
  assert.equal(await attempts(1), 0);
  // The next attempt would come after that.
  await letPass(id, '59 minutes 59 seconds');
  await waitFor('it is given up', async () => (await deliveries(boss, id))[0].state === 'failed');
  const [first] = await deliveries(boss, id);
  assert.deepEqual([first.attempts, first.nextTry, first.lastStatus], [receiver.all.length, null, 500]);
  await letPass(id, '0');
  await waitFor('the next has its turn', async () => (await attempts(1)) > 0);
  assert.equal(await attempts(0), first.attempts, 'the first is left alone');
  receiver.answering = () => 200;
  expectOk(await boss.post(`${path}/${id}/deliveries/${first.id}/resend`));
  await letPass(id, '0');
  await waitFor('all is delivered', async () => (await waiting(boss, id)) === 0);
  assert.deepEqual(receiver.taken.map(({ data }) => data.after.deptName).sort(), ['v0', 'v1']);
  assert.equal(receiver.taken.find(({ data }) => data.after.deptName === 'v0')?.id, first.messageId);
});

test('what is done is kept for 30 days; what waits, until it is done', async () => {
  const boss = await service.createTenant();
  const receiver = await Receiver.start(({ data }) => (data.after.deptName === 'bad' ? 500 : 200));
  const id = await register(boss, receiver);
  for (const deptName of ['bad', 'old']) await boss.createDepartment({ deptName });
  await waitFor('all were tried', async () => (await waiting(boss, id)) === 1 && receiver.taken.length === 1);
  const [bad, old] = await deliveries(boss, id);
  await superuser`update banyan.webhook_deliveries set time = now() - interval '31 days' where webhook_id = ${id}`;
  await boss.createDepartment({ deptName: 'young' });
  await waitFor('another has arrived', () => receiver.taken.length === 2);
  await waitFor('one is gone', async () => (await deliveries(boss, id)).length === 2);
  const [kept, young] = await deliveries(boss, id);
  assert.deepEqual([kept.id, kept.state], [bad.id, 'waiting']);
  await superuser`
    update banyan.webhook_deliveries set time = now() - interval '29 days' where delivery_id = ${young.id}`;
  await boss.createDepartment({ deptName: 'younger' });
  await waitFor('another has arrived', () => receiver.taken.length === 3);
  const free = async () => {
    const [row] = await superuser`select busy_by from banyan.webhooks where webhook_id = ${id}`;
    return row?.busy_by === null;
  };
  await waitFor('it is at rest', free);
  assert.equal((await deliveries(boss, id)).length, 3, 'nothing else is gone');
  expectError(await boss.post(`${path}/${id}/deliveries/${old.id}/resend`), 404, 'DELIVERY_NOT_FOUND');
});

test('a thousand wait at most, the others in the ledger; and in the end all arrive', async () => {
  const boss = await service.createTenant();
  const receiver = await Receiver.start(() => 500);
  const id = await register(boss, receiver);
  // 990 wait already, each behind another of its record. Nobody works on the webhook while they are inserted.
  await superuser.begin(async (tx) => {
    await tx`
      update banyan.webhooks set waiting = 990, busy_by = gen_random_uuid(), busy_until = 'infinity' where webhook_id = ${id}`;
    await tx`
      insert into banyan.webhook_deliveries (tenant_id, webhook_id, delivery_id, type, resource, resource_id, give_up, next_try)
      select ${boss.tenantId}, ${id}, nextval('banyan.delivery_serial'), 'department.updated', 'department', -n,
        now() + interval '3 days', 'infinity'
      from generate_series(1, 990) n`;
  });
  const departments = Array.from({ length: 30 }, (_, n) => ({ ref: `${n}`, deptName: `d${n}` }));
  assert.equal((await boss.post(`${DEPTS}/bulk`, { departments })).code, 200);
  await superuser`update banyan.webhooks set busy_until = '-infinity' where webhook_id = ${id}`;
  await waitFor('a thousand wait', async () => (await waiting(boss, id)) >= 1_000);
  const before = receiver.all.length;
  // Again and again: an attempt that was under way when its time was made to pass gives it another rest when it fails.
  await waitFor('it is tried again', async () => {
    await letPass(id, '0');
    return receiver.all.length > before;
  });
  assert.equal(await waiting(boss, id), 1_000);
  receiver.answering = () => 200;
  await superuser`delete from banyan.webhook_deliveries where webhook_id = ${id} and resource_id < 0`;
  expectOk(await boss.put(path, { id, url: receiver.url, kinds: ['department.*'] }));
  await waitFor('all have arrived', async () => {
    await letPass(id, '0');
    return new Set(receiver.taken.map(({ data }) => data.id)).size === 30;
  });
  await waitFor('none waits any more', async () => (await waiting(boss, id)) === 0);
});

/** All that was written in this tenant was written so long ago. */
const age = (tenantId: string, days: number) => superuser`
  update banyan.changes set time = time - ${days} * interval '1 day' where tenant_id = ${tenantId}`;
const archived = async (tenantId: string): Promise<number> =>
  (await superuser`select from banyan.changes_archive where tenant_id = ${tenantId} and resource = 'department'`)
    .length;

test('what waits to be delivered is not archived; what is not kept any more is not sent again', async () => {
  const boss = await service.createTenant();
  const receiver = await Receiver.start(() => 500);
  const id = await register(boss, receiver);
  const dept = await boss.createDepartment({ deptName: 'v0' });
  for (const deptName of ['v1', 'v2']) await boss.put(DEPTS, { deptId: dept, deptName });
  await waitFor('all wait', async () => (await waiting(boss, id)) === 3);
  await age(boss.tenantId, 10);
  await archiveLedger(owner, 1);
  assert.equal(await archived(boss.tenantId), 0);
  receiver.answering = () => 200;
  await boss.put(path, { id, url: receiver.url, kinds: ['department.*'] });
  await waitFor('all are delivered', async () => (await waiting(boss, id)) === 0);
  assert.deepEqual(
    receiver.taken.map(({ data }) => data.after.deptName),
    ['v0', 'v1', 'v2'],
  );
  await archiveLedger(owner, 1);
  assert.equal(await archived(boss.tenantId), 1, 'v1; what brought it to its place stays, and what came last');
  const [first, second] = await deliveries(boss, id);
  expectOk(await boss.post(`${path}/${id}/deliveries/${second.id}/resend`));
  await waitFor('it is sent again from the archive', () => receiver.taken.length === 4);
  assert.equal(receiver.taken[3]?.body, receiver.taken[1]?.body);
  await waitFor('it is noted', async () => (await waiting(boss, id)) === 0);
  await superuser`delete from banyan.changes_archive where tenant_id = ${boss.tenantId}`;
  expectError(await boss.post(`${path}/${id}/deliveries/${second.id}/resend`), 409, 'DELIVERY_TOO_OLD');
  expectOk(await boss.post(`${path}/${id}/deliveries/${first.id}/resend`));
  await waitFor('what is kept is sent again', () => receiver.taken.length === 5);
  // Asked for in the moment in which the archive was emptied: nothing is sent rather than a message that tells nothing.
  await superuser`
    update banyan.webhook_deliveries set state = 'waiting', next_try = now(), give_up = now() + interval '1 day'
    where delivery_id = ${second.id}`;
  await letPass(id, '0');
  await waitFor(
    'it says why',
    async () => (await deliveries(boss, id))[1].lastError === 'the change is not kept any more',
  );
  assert.equal(receiver.all.filter(({ id }) => id === second.messageId).length, 2);
});

test('what a webhook has not come to yet is not archived for three days', async () => {
  const boss = await service.createTenant();
  const receiver = await Receiver.start();
  const id = await register(boss, receiver);
  // Somebody else is at work on it, and does not come back. Who looked at it since it was registered gives nothing back.
  await superuser`
    update banyan.webhooks set busy_by = gen_random_uuid(), busy_until = 'infinity' where webhook_id = ${id}`;
  const dept = await boss.createDepartment({ deptName: 'v0' });
  for (const deptName of ['v1', 'v2']) await boss.put(DEPTS, { deptId: dept, deptName });
  await boss.get('/system/change-api');
  await age(boss.tenantId, 2);
  await archiveLedger(owner, 1);
  assert.equal(await archived(boss.tenantId), 0);
  await age(boss.tenantId, 2);
  await archiveLedger(owner, 1);
  assert.equal(await archived(boss.tenantId), 1);
  await superuser`delete from banyan.changes_archive where tenant_id = ${boss.tenantId}`;
  await superuser`update banyan.webhooks set busy_until = '-infinity' where webhook_id = ${id}`;
  await waitFor('it is told of what is kept', () => receiver.taken.length === 2);
  assert.ok(receiver.taken.every(({ data }) => data !== null));
});
