import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after } from '../support/cleanup.ts';
import { takeRecentLog } from '../support/logs.ts';
import { Receiver } from '../support/receiver.ts';
import { Client, FAST_WEBHOOK_POLLING, PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The clock of both nodes; undefined: that of the database. */
let time: Date | undefined;
/** How often the nodes have read the clock. Each check for notices begins with a read, and quota requests read it. */
let clockReads = 0;
const quotaTime = () => {
  clockReads++;
  return time;
};
const options = { quotaTime, timing: { noticeMs: 100, ...FAST_WEBHOOK_POLLING } };
const environment = { BANYAN_TIME_ZONE: 'Asia/Shanghai', BANYAN_WEBHOOK_NETWORKS: 'loopback' };
const service = await startService(environment, options);
const startNode = () => startService({ ...environment, DATABASE_URL: service.databaseUrl }, options);
const second = await startNode();
const at = ({ base }: { base: string }, { token, tenantId }: Client) => new Client(base, token, undefined, tenantId);

/** Reads the notices in a feed: `tenant quota percent total` or `tenant endTime days`. */
async function readNotices(client: Client, query = ''): Promise<string[]> {
  const { data } = await client.get(`/system/change-api?limit=1000${query}`);
  return data.rows
    .filter(({ resource }: { resource: string }) => resource === 'notice')
    .map(({ by, action, after }: { by: string; action: string; after: Record<string, unknown> }) => {
      assert.deepEqual([by, action], ['', 'created']);
      const { tenantId, quota, percent, total, endTime, days } = after;
      return quota === null ? `${tenantId} ${endTime} ${days}` : `${tenantId} ${quota} ${percent} ${total}`;
    });
}

const waitForNotices = (client: Client, expected: string[], query = '') =>
  waitFor(`the feed has ${expected.length} notices`, async () => {
    const notices = await readNotices(client, query);
    if (notices.length < expected.length) return undefined;
    assert.deepEqual(notices, expected);
    return notices;
  });

test('concurrent uses on two nodes warn once at 80 % and once at 100 %, in the feeds of the tenant and of those above', async () => {
  const above = await service.createTenant();
  const admin = await service.createTenant({ quotaBo: { merchant: 10 } }, above);
  const nodes = [admin, at(second, admin)];
  const use = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        (nodes[n % 2] as Client).post('/system/quota-api/consume', { quota: 'merchant' }),
      ),
    );
  const responses = await use(24);
  assert.equal(responses.filter(({ status }) => status === 200).length, 10);
  const first = ['merchant 80 10', 'merchant 100 10'].map((notice) => `${admin.tenantId} ${notice}`);
  await waitForNotices(admin, first);
  await waitForNotices(above, first);
  await waitForNotices(above, first, '&below=true');
  // A higher total resets both warnings: the next uses warn about the new total.
  await above.patch(`/system/tenant-api/${admin.id}`, { quotaBo: { merchant: 12 } });
  await use(4);
  const all = [...first, ...['merchant 80 12', 'merchant 100 12'].map((notice) => `${admin.tenantId} ${notice}`)];
  await waitForNotices(admin, all);
  await waitForNotices(above, all, '&below=true');
});

test('a use that reaches 80 % of a pool warns the tenant of the pool, not the one that used it', async () => {
  const above = await service.createTenant();
  const owner = await service.createTenant({}, above);
  const user = await service.createTenant({}, owner);
  const receiver = await Receiver.start();
  await above.create('/system/webhook-api', { url: receiver.url, kinds: ['notice.*'] });
  const path = `/system/quota-api/calls?tenantId=${owner.tenantId}`;
  assert.equal((await above.put(path, { total: 5, pooled: true })).code, 200);
  assert.equal((await user.post('/system/quota-api/consume', { quota: 'calls', amount: 4 })).code, 200);
  await waitForNotices(owner, [`${owner.tenantId} calls 80 5`]);
  await waitForNotices(above, [`${owner.tenantId} calls 80 5`]);
  assert.deepEqual(await readNotices(user), []);
  await waitFor('the webhook has delivered the notice', () => receiver.accepted.length > 0);
  assert.deepEqual(
    receiver.accepted.map(({ type, data }) => [type, data.after.tenantId, data.after.quota, data.after.percent]),
    [['notice.created', owner.tenantId, 'calls', 80]],
  );
});

test('adding users in several tenants warns once at 80 % and once at 100 % of a pool of accounts', async () => {
  const above = await service.createTenant();
  const owner = await service.createTenant({}, above);
  const tenants = [owner, await service.createTenant({}, owner), await service.createTenant({}, owner)];
  const path = `/system/quota-api/accounts?tenantId=${owner.tenantId}`;
  // The three administrators count.
  assert.equal((await above.put(path, { total: 10, pooled: true })).code, 200);
  const create = (count: number, prefix: string) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        (tenants[n % 3] as Client).post('/system/user-api', { userName: `${prefix}${n}`, password: PASSWORD }),
      ),
    );
  await create(4, 'a');
  assert.deepEqual(await readNotices(owner), []);
  await create(6, 'b');
  const expected = ['accounts 80 10', 'accounts 100 10'].map((notice) => `${owner.tenantId} ${notice}`);
  await waitForNotices(owner, expected);
  await waitForNotices(above, expected);
  assert.deepEqual(await readNotices(tenants[1] as Client), []);
  // A tenant that moves in counts too.
  assert.equal((await above.put(path, { total: 12, pooled: true })).code, 200);
  const moving = await service.createTenant({}, above);
  assert.equal((await above.patch(`/system/tenant-api/${moving.id}`, { tenantParent: owner.tenantId })).code, 200);
  await waitForNotices(owner, [...expected, `${owner.tenantId} accounts 80 12`]);
});

test('a tenant that cannot be warned does not keep later ones from being warned, and is warned once it can be', async () => {
  after(() => {
    time = undefined;
  });
  const above = await service.createTenant();
  const first = await service.createTenant({ endTime: '2031-06-29' }, above);
  const later = await service.createTenant({ endTime: '2031-06-30' }, above);
  await service.superuser.unsafe(`
    create function banyan.reject_notice() returns trigger language plpgsql as $$ begin raise exception 'rejected'; end $$;
    create trigger reject_notice before insert on banyan.notices for each row
      when (new.tenant_id = '${first.tenantId}') execute function banyan.reject_notice()`);
  time = new Date('2031-06-01T00:00:00Z');
  await waitForNotices(later, [`${later.tenantId} 2031-06-30 30`]);
  assert.deepEqual(await readNotices(first), []);
  const isLogged = (line: string) => line.includes('could not be warned') && line.includes(first.tenantId);
  const log: string[] = [];
  await waitFor('the error is logged', () => {
    log.push(...takeRecentLog());
    return log.some(isLogged);
  });
  const before = clockReads;
  await waitFor('the nodes have tried again', () => clockReads >= before + 6);
  log.push(...takeRecentLog());
  assert.ok(log.filter(isLogged).length <= 2, 'each node logs the error once');
  await service.superuser`drop trigger reject_notice on banyan.notices`;
  await waitForNotices(first, [`${first.tenantId} 2031-06-29 30`]);
});

test('two nodes warn once 30 days, 7 days and 1 day before the end of service, also after a restart', async () => {
  after(() => {
    time = undefined;
  });
  const above = await service.createTenant();
  const admin = await service.createTenant({ endTime: '2030-06-30' }, above);
  const expected: string[] = [];
  const expectAt = async (now: string, ...notices: string[]) => {
    time = new Date(now);
    expected.push(...notices.map((notice) => `${admin.tenantId} ${notice}`));
    if (notices.length === 0) {
      // When two nodes have begun three checks, one has ended: a node begins a check only after its previous one.
      const before = clockReads;
      await waitFor('a node has looked for notices', () => clockReads >= before + 3);
    }
    await waitForNotices(admin, expected);
  };
  // The day begins at midnight in the configured time zone.
  await expectAt('2030-05-30T16:00:00Z', '2030-06-30 30');
  await expectAt('2030-06-15T00:00:00Z');
  await expectAt('2030-06-24T00:00:00Z', '2030-06-30 7');
  await second.app.close();
  const third = await startNode();
  await expectAt('2030-06-29T00:00:00Z', '2030-06-30 1');
  // Another end date has its own notices.
  await above.patch(`/system/tenant-api/${admin.id}`, { endTime: '2030-07-05' });
  await expectAt('2030-06-29T01:00:00Z', '2030-07-05 7');
  await waitForNotices(above, expected);
  await waitForNotices(at(third, above), expected, '&below=true');
});
