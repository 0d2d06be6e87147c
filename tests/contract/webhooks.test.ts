import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { DEPTS, databaseTime, expectError, expectInvalid, expectOk } from '../support/expect.ts';
import { Receiver } from '../support/receiver.ts';
import { type Client, FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: FAST_WEBHOOK_POLLING });
const path = '/system/webhook-api';

async function register(admin: Client, body: Record<string, unknown>): Promise<{ id: number; secret: string }> {
  const { data, text } = await admin.post(path, body);
  assert.ok(data?.secret, text);
  return data;
}
const listDeliveries = async (admin: Client, id: number, query = '') =>
  (await admin.get(`${path}/${id}/deliveries${query}`)).data.rows;

test('a webhook can be registered, read without its secret, updated and deleted', async () => {
  const admin = await service.createTenant();
  const response = await admin.post(path, {
    name: 'payroll',
    url: 'http://127.0.0.1:9/x',
    kinds: ['user.*'],
    status: '1',
  });
  const { id, secret } = response.data;
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(response.headers.location, `${path}/${id}`);
  const read = await admin.get(`${path}/${id}`);
  const { createTime, ...rest } = read.data;
  assert.match(createTime, /^\d{4}-/);
  assert.deepEqual(rest, {
    id,
    name: 'payroll',
    url: 'http://127.0.0.1:9/x',
    kinds: ['user.*'],
    below: false,
    status: '1',
    gone: false,
    waiting: 0,
    failures: 0,
    nextDue: null,
    oldSecretUntil: null,
    createBy: 'boss',
    updateBy: '',
    updateTime: null,
  });
  assert.deepEqual((await admin.get(`${path}/list`)).data, { rows: [read.data], total: 1 });
  expectOk(await admin.put(path, { id, url: 'http://localhost:9/y' }));
  const changed = (await admin.get(`${path}/${id}`)).data;
  assert.deepEqual(
    [changed.name, changed.url, changed.kinds, changed.status],
    ['', 'http://localhost:9/y', ['*'], '0'],
  );
  const stale = await admin.put(path, { id, url: 'http://localhost:9/z' }, { headers: { 'if-match': '"stale"' } });
  expectError(stale, 412, 'CHANGED_MEANWHILE');
  expectOk(await admin.delete(`${path}/${id}`));
  expectError(await admin.get(`${path}/${id}`), 404, 'WEBHOOK_NOT_FOUND');
  // The audit log contains every change but not the secret.
  const audit = await admin.get('/system/change-api/list?resource=webhook');
  assert.deepEqual(
    audit.data.rows.map(({ action }: { action: string }) => action),
    ['deleted', 'updated', 'created'],
  );
  assert.ok(!audit.text.includes(secret) && !audit.text.includes('whsec'));
  await waitFor('the row is removed', async () => {
    const remaining = await service.superuser`select from banyan.webhooks where webhook_id = ${id}`;
    return remaining.length === 0;
  });
});

test('changes arrive in order with signatures that the Standard Webhooks library verifies', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  const before = await admin.createDepartment({ deptName: 'before' });
  const { secret } = await register(admin, { url: receiver.url });
  const dept = await admin.createDepartment({ deptName: '研发' });
  await admin.put(DEPTS, { deptId: dept, deptName: '研发二部' });
  await admin.put(DEPTS, { deptId: dept, deptName: '研发二部', parentId: before });
  await admin.createUser({ userName: 'anna', deptId: dept });
  await waitFor('all four changes arrive', () => receiver.accepted.length === 4);
  const feed = (await admin.get('/system/change-api')).data.rows;
  const library = new Webhook(secret);
  for (const { headers, body, data, type } of receiver.accepted) {
    const payload = library.verify(body, headers) as { type: string; timestamp: string };
    assert.equal(payload.type, type);
    assert.equal(payload.timestamp, data.time);
    assert.deepEqual(
      data,
      feed.find(({ id }: { id: number }) => id === data.id),
    );
    assert.throws(() => library.verify(`${body} `, headers));
  }
  const ofDept = receiver.accepted.filter(({ data }) => data.resource === 'department').map(({ type }) => type);
  assert.deepEqual(ofDept, ['department.created', 'department.updated', 'department.moved']);
  assert.ok(receiver.accepted.some(({ type }) => type === 'user.created'));
  assert.equal(new Set(receiver.all.map(({ id }) => id)).size, 4);
});

test('a webhook receives only the kinds that it subscribed to', async () => {
  const admin = await service.createTenant();
  const [some, users, all] = await Promise.all([Receiver.start(), Receiver.start(), Receiver.start()]);
  await register(admin, { url: some.url, kinds: ['department.deleted', 'user.password_changed'] });
  await register(admin, { url: users.url, kinds: ['user.*'] });
  await register(admin, { url: all.url, kinds: ['*', 'user.created'] });
  const dept = await admin.createDepartment();
  const user = await admin.createUser({ userName: 'anna' });
  await admin.put('/system/user-api', { userId: user, password: 'another horse' });
  await admin.delete(`${DEPTS}/${dept}`);
  await waitFor(
    'all changes arrive',
    () => all.accepted.length >= 5 && users.accepted.length >= 3 && some.accepted.length >= 2,
  );
  assert.deepEqual(some.accepted.map(({ type }) => type).sort(), ['department.deleted', 'user.password_changed']);
  // A new password makes two changes of one record, which arrive in the order of the feed.
  const feed: { resource: string; resourceId: string; action: string }[] = (await admin.get('/system/change-api')).data
    .rows;
  const ofUser = feed.filter(({ resource, resourceId }) => resource === 'user' && resourceId === user);
  assert.deepEqual(
    users.accepted.map(({ data }) => data.action),
    ofUser.map(({ action }) => action),
  );
  for (const kinds of [['dept.created'], ['department'], ['*.*'], ['department.exploded'], [], ['login.*'], 'x']) {
    const response = await admin.post(path, { url: all.url, kinds });
    assert.equal(response.status, 400, response.text);
  }
  expectInvalid(await admin.post(path, { url: all.url, kinds: ['login.*'] }), 'kinds[0]');
});

test('a webhook receives changes of quotas', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  await register(admin, { url: receiver.url, kinds: ['quota.created', 'quota.updated'] });
  const quota = `/system/quota-api/calls?tenantId=${admin.tenantId}`;
  for (const total of [5, 6]) expectOk(await service.root.put(quota, { total }));
  await waitFor('both changes arrive', () => receiver.accepted.length >= 2);
  assert.deepEqual(
    receiver.accepted.map(({ type, data }) => [type, data.after.total]),
    [
      ['quota.created', 5],
      ['quota.updated', 6],
    ],
  );
});

test('a receiver that recovers from failures gets every change of a record in order', async () => {
  const admin = await service.createTenant();
  // Delay every retry by an hour, so that even on a slow machine none happens unless the test requests it.
  await service.superuser.unsafe(`
    create function public.delay_retry() returns trigger language plpgsql as $$
    begin
      new.next_try := new.next_try + interval '1 hour';
      return new;
    end $$;
    create trigger delay_retry before update on banyan.webhook_deliveries for each row
      when (new.tenant_id = '${admin.tenantId}' and new.next_try > now() and new.next_try < 'infinity')
      execute function public.delay_retry()`);
  let failures = 2;
  const receiver = await Receiver.start(() => (failures-- > 0 ? 500 : 204));
  const { id } = await register(admin, { url: receiver.url, kinds: ['department.*'] });
  const dept = await admin.createDepartment({ deptName: 'v0' });
  for (let n = 1; n <= 5; n++) await admin.put(DEPTS, { deptId: dept, deptName: `v${n}` });
  await waitFor('the first attempt arrives', () => receiver.all.length > 0);
  await waitFor('the delivery is recorded', async () => (await listDeliveries(admin, id)).at(-1)?.attempts > 0);
  const shown = await listDeliveries(admin, id);
  const first = shown.at(-1);
  assert.deepEqual(
    [first.state, first.attempts, first.lastStatus, first.lastAnswer, first.type, first.resourceId],
    ['waiting', 1, 500, 'responded 500', 'department.created', dept],
  );
  const wait = Date.parse(first.nextTry) - Date.parse(first.lastTime);
  assert.equal(wait, 3_605_000, 'five seconds and the extra hour');
  assert.ok(
    shown.slice(0, -1).every(({ nextTry }: { nextTry: null }) => nextTry === null),
    'the other deliveries wait behind it',
  );
  // Request the next two attempts with resend instead of waiting.
  for (let n = 0; n < 2; n++) {
    await waitFor('the attempt is recorded', async () => (await listDeliveries(admin, id)).at(-1)?.attempts === n + 1);
    expectOk(await admin.post(`${path}/${id}/deliveries/${first.id}/resend`));
  }
  await waitFor('all six changes arrive', () => receiver.accepted.length === 6);
  assert.deepEqual(
    receiver.accepted.map(({ data }) => data.after.deptName),
    ['v0', 'v1', 'v2', 'v3', 'v4', 'v5'],
  );
  assert.equal(new Set(receiver.all.slice(0, 3).map(({ id }) => id)).size, 1, 'each attempt has the same id');
  await waitFor('no delivery waits', async () => (await admin.get(`${path}/${id}`)).data.waiting === 0);
  const states = await listDeliveries(admin, id, '?state=delivered&limit=4');
  assert.deepEqual([states.length, states[0].lastStatus, states[0].nextTry], [4, 204, null]);
  const page = (await admin.get(`${path}/${id}/deliveries?limit=4`)).data;
  const rest = (await admin.get(`${path}/${id}/deliveries?limit=4&cursor=${page.next}`)).data;
  assert.deepEqual([page.rows.length, rest.rows.length, rest.next], [4, 2, null]);
});

test('a resend repeats the delivered message with the same id', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  const { id } = await register(admin, { url: receiver.url });
  await admin.createDepartment();
  await waitFor('the message arrives', () => receiver.accepted.length === 1);
  await waitFor('the delivery is recorded', async () => (await listDeliveries(admin, id))[0]?.state === 'delivered');
  const [{ id: delivery, messageId }] = await listDeliveries(admin, id);
  expectOk(await admin.post(`${path}/${id}/deliveries/${delivery}/resend`));
  await waitFor('the message arrives again', () => receiver.accepted.length === 2);
  const [first, second] = receiver.accepted;
  assert.deepEqual([second?.id, second?.body], [first?.id, first?.body]);
  assert.equal(messageId, first?.id);
  for (const unknown of ['7', '9007199254740993', '9999999999999999999'])
    expectError(await admin.post(`${path}/${id}/deliveries/${unknown}/resend`), 404, 'DELIVERY_NOT_FOUND');
  expectError(await admin.post(`${path}/9007199254740993/test`), 404, 'WEBHOOK_NOT_FOUND');
  expectInvalid(await admin.post(`${path}/${id}/deliveries/x/resend`), 'id');
});

test('a test message is signed, delivered and recorded, unless the webhook is disabled', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  const { id, secret } = await register(admin, { url: receiver.url, kinds: ['tenant.deleted'] });
  const { data } = await admin.post(`${path}/${id}/test`);
  await waitFor('the message arrives', () => receiver.accepted.length === 1);
  const [{ body, headers, type }] = receiver.accepted as [Receiver['all'][number]];
  assert.equal(type, 'webhook.test');
  new Webhook(secret).verify(body, headers);
  await waitFor('the delivery is recorded', async () => (await listDeliveries(admin, id))[0]?.state === 'delivered');
  assert.equal((await listDeliveries(admin, id))[0].id, data.deliveryId);
  await admin.put(path, { id, url: receiver.url, status: '1' });
  expectError(await admin.post(`${path}/${id}/test`), 409, 'WEBHOOK_DISABLED');
  expectError(await admin.post(`${path}/${id}/deliveries/${data.deliveryId}/resend`), 409, 'WEBHOOK_DISABLED');
});

test('after a rotation messages are signed with both secrets for a day', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  const { id, secret: old } = await register(admin, { url: receiver.url });
  const before = Date.parse(await databaseTime(service));
  const { data } = await admin.post(`${path}/${id}/rotate-secret`);
  const after = Date.parse(await databaseTime(service));
  assert.notEqual(data.secret, old);
  const { oldSecretUntil } = (await admin.get(`${path}/${id}`)).data;
  const rotated = Date.parse(oldSecretUntil) - 86_400_000;
  // oldSecretUntil may be truncated to whole seconds.
  assert.ok(rotated > before - 1_000 && rotated <= after, oldSecretUntil);
  await admin.createDepartment();
  await waitFor('the message arrives', () => receiver.accepted.length === 1);
  const verify = (secret: string, n: number) => {
    const { body, headers } = receiver.accepted[n] as Receiver['all'][number];
    return new Webhook(secret).verify(body, headers);
  };
  assert.equal(receiver.accepted[0]?.headers['webhook-signature']?.split(' ').length, 2);
  verify(old, 0);
  verify(data.secret, 0);
  // Let the day pass, and an hour more: a transaction of the dispatcher may have begun before this one.
  await service.superuser`
    update banyan.webhooks set old_secret_until = now() - interval '1 hour' where webhook_id = ${id}`;
  await admin.createDepartment();
  await waitFor('the message arrives', () => receiver.accepted.length === 2);
  verify(data.secret, 1);
  assert.throws(() => verify(old, 1));
});

test('a 410 response disables the webhook, and it receives what it missed once enabled again', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start(() => 410);
  const { id } = await register(admin, { url: receiver.url });
  await admin.createDepartment({ deptName: 'one' });
  await waitFor('the webhook is disabled', async () => (await admin.get(`${path}/${id}`)).data.gone);
  assert.equal((await admin.get(`${path}/${id}`)).data.status, '1');
  await admin.createDepartment({ deptName: 'two' });
  receiver.respond = () => 200;
  expectOk(await admin.put(path, { id, url: receiver.url }));
  await waitFor('both changes arrive', () => receiver.accepted.length === 2);
  assert.equal((await admin.get(`${path}/${id}`)).data.gone, false);
});

test('redirects are not followed, large responses are truncated, and connection errors are recorded', async () => {
  const admin = await service.createTenant();
  const elsewhere = await Receiver.start();
  const redirecting = await Receiver.start((_, response) => {
    response.writeHead(307, { location: elsewhere.url }).end();
    return undefined;
  });
  const endless = await Receiver.start((_, response) => {
    response.writeHead(500);
    const writeMore = () => response.write('x'.repeat(10_000)) && setImmediate(writeMore);
    response.on('drain', writeMore);
    writeMore();
    return undefined;
  });
  const hooks = await Promise.all(
    [redirecting.url, endless.url, 'http://127.0.0.1:9/'].map((url) => register(admin, { url })),
  );
  await admin.createDepartment();
  const last = async (n: number) => (await listDeliveries(admin, hooks[n]?.id as number))[0];
  await waitFor('all webhooks are tried', async () =>
    (await Promise.all([0, 1, 2].map(last))).every((one) => one?.lastTime),
  );
  assert.equal((await last(0)).lastStatus, 307);
  assert.equal(elsewhere.all.length, 0);
  assert.deepEqual([(await last(1)).lastStatus, (await last(1)).lastAnswer.length], [500, 1_000]);
  assert.deepEqual([(await last(2)).lastStatus, (await last(2)).lastError.slice(0, 12)], [null, 'ECONNREFUSED']);
});

test('a tenant can register at most 20 webhooks, even with concurrent requests', async () => {
  const admin = await service.createTenant();
  const body = { url: 'http://127.0.0.1:9/', status: '1' };
  const responses = await Promise.all(Array.from({ length: 24 }, () => admin.post(path, body)));
  const rejected = responses.filter(({ code }) => code !== 200);
  assert.equal(rejected.length, 4);
  for (const response of rejected) expectError(response, 409, 'TOO_MANY_WEBHOOKS', { limit: 20 });
});

test('members cannot read webhooks, and a parent tenant cannot read those of its child', async () => {
  const admin = await service.createTenant();
  const below = await service.createTenant({}, admin);
  const { id } = await register(below, { url: 'http://127.0.0.1:9/', status: '1' });
  expectError(await admin.get(`${path}/${id}`), 404, 'WEBHOOK_NOT_FOUND');
  expectError(await (await service.createMember(below)).get(`${path}/${id}`), 403, 'NOT_ALLOWED');
});

test('a tenant that is not active receives nothing, and everything it missed once it is active again', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  const child = await service.createTenant({}, admin);
  const { id } = await register(child, { url: receiver.url, kinds: ['department.*'] });
  /** Whether a dispatcher has claimed the webhook or the next poll would claim it. */
  const isClaimedOrDue = async () => {
    const [row] = await service.superuser<[{ pending: boolean }]>`
      select lease_id is not null or exists (
        select from banyan.due_webhooks(1000, 64, array[]::text[], array[]::text[]) d where d.webhook_id = w.webhook_id) as pending
      from banyan.webhooks w where webhook_id = ${id}`;
    return row.pending;
  };
  await child.createDepartment({ deptName: 'one' });
  await waitFor('the first change arrives', () => receiver.accepted.length === 1);
  await waitFor('the first delivery is recorded', async () => !(await isClaimedOrDue()));
  // Disable the tenant, then make a change directly in the database.
  await service.superuser`update banyan.tenants set status = '1' where tenant_id = ${child.tenantId}`;
  await service.superuser.begin(async (tx) => {
    await tx`select set_config('banyan.tenant', ${child.tenantId}, true)`;
    await tx`update banyan.departments set dept_name = 'two' where tenant_id = ${child.tenantId}`;
  });
  const other = await Receiver.start();
  await register(admin, { url: other.url });
  await admin.createDepartment();
  await waitFor('the webhook of the parent tenant receives its change', () => other.accepted.length === 1);
  assert.equal(await isClaimedOrDue(), false);
  assert.equal(receiver.all.length, 1);
  await service.superuser`update banyan.tenants set status = '0' where tenant_id = ${child.tenantId}`;
  await waitFor('the missed change arrives', () => receiver.accepted.length === 2);
  assert.equal(receiver.accepted[1]?.data.after.deptName, 'two');
});
