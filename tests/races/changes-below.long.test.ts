// Only with test:long: services and subscribers are processes that are killed and started again, and changes.test.ts covers the order of the changes of several tenants.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { after } from '../support/cleanup.ts';
import { connectWithoutDeadline, createDatabase } from '../support/database.ts';
import { newDataFolder, startOnDatabase } from '../support/process.ts';
import { Receiver } from '../support/receiver.ts';
import { firstSeed, report, runConcurrently, seededRandom, Tally } from '../support/scale.ts';
import { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { KilledService } from './killed-service.ts';
import { type Row, rebuild, Subscriber } from './subscriber-process.ts';

const dept = '/system/dept-api';
const TENANTS = 8;
const WRITERS = 16;
const OPERATIONS = 500;

const { databaseUrl, superuserUrl } = await createDatabase();
const superuser = connectWithoutDeadline({ url: superuserUrl });
after(() => superuser.end());
const folder = newDataFolder();
const service = await KilledService.start(() => startOnDatabase(databaseUrl, { BANYAN_WEBHOOK_NETWORKS: 'loopback' }));

/** Creates a tenant with seven below it, on several levels, and one outside of this subtree. Each has three departments. */
async function createSubtree(pick: <T>(from: readonly T[]) => T) {
  const clients = [await service.createTenant()];
  while (clients.length < TENANTS) clients.push(await service.createTenant(pick(clients)));
  const writers = [...clients, await service.createTenant()].map(async (client) => ({
    client,
    ids: await Promise.all([1, 2, 3].map((n) => client.createDepartment({ deptName: `root ${n}` }))),
  }));
  return {
    top: clients[0] as Client,
    codes: clients.map(({ tenantId }) => tenantId),
    writers: await Promise.all(writers),
  };
}

const SHOWN = ['department', 'tenant', 'user'];

/** The changes that a reader of the subtree must have received, in the order of their positions. */
const readCommitted = (codes: string[]) => superuser<{ id: number; tenantId: string; resource: string }[]>`
  select c.change_id as id, c.tenant_id as "tenantId", c.resource
  from banyan.changes c join banyan.change_positions p using (tenant_id, change_id)
  where c.tenant_id = any (${codes}) and c.resource = any (${SHOWN}) and not c.is_copy order by p.position`;

async function assertComplete(codes: string[], rows: Row[], acknowledged: Map<string, string[]>) {
  const received = rows.map(({ id }) => id);
  assert.equal(new Set(received).size, received.length, 'no change is delivered twice');
  const [{ committed }] = await superuser<[{ committed: number }]>`
    select count(*)::int as committed from banyan.changes c
    where c.tenant_id = any (${codes}) and c.resource = any (${SHOWN}) and not c.is_copy`;
  assert.equal(received.length, committed, 'no change is missing');
  assert.deepEqual(
    received,
    (await readCommitted(codes)).map(({ id }) => id),
    'changes come in the order of their positions',
  );
  for (const code of codes) {
    const own = rows.filter(({ tenantId }) => tenantId === code);
    const tree = await superuser<{ deptId: number; parentId: number; deptName: string }[]>`
      select dept_id as "deptId", coalesce(parent_id, 0) as "parentId", dept_name as "deptName"
      from banyan.departments where tenant_id = ${code} and del_flag = '0' order by dept_id`;
    // `rebuild` also fails when a change comes before one on which that change depends.
    assert.deepEqual(rebuild(own), [...tree], `the departments of ${code}`);
    const created = new Set(own.map(({ after }) => String(after?.deptId)));
    const missing = acknowledged.get(code)?.filter((id) => !created.has(id));
    assert.deepEqual(missing, [], 'every acknowledged change is delivered');
  }
}

test('subscribers receive changes of 8 tenants once and in order while 16 clients write and processes are killed', async (t) => {
  const tally = new Tally();
  const runs = 5;
  for (let n = 0; n < runs; n++) {
    const { pick, below } = seededRandom(firstSeed + n);
    const { top, codes, writers } = await createSubtree(pick);
    const receiver = await Receiver.start();
    const topAdmin = new Client(await service.base, top.token);
    await topAdmin.create('/system/webhook-api', { url: receiver.url, kinds: ['department.*'], below: true });
    const [{ from }] = await superuser<[{ from: number }]>`select position as from from banyan.change_order`;
    const subscribers = (['polling', 'events'] as const).map((transport) => {
      const file = path.join(folder, '..', `received ${n} ${transport}`);
      return new Subscriber({ token: top.token as string, file, transport, below: true });
    });
    const startAll = (base: string) => Promise.all(subscribers.map((subscriber) => subscriber.start(base)));
    await startAll(await service.base);
    const randomOperation = () => 20 + below(OPERATIONS - 40);
    const [serviceKill, subscribersKill] = [randomOperation(), randomOperation()];
    const acknowledged = new Map<string, string[]>(codes.map((code) => [code, []]));

    await runConcurrently(WRITERS, OPERATIONS, async (operation) => {
      if (operation === serviceKill) {
        await service.killAndRestart();
        await startAll(await service.base);
      }
      if (operation === subscribersKill) {
        await Promise.all(subscribers.map((subscriber) => subscriber.kill()));
        await startAll(await service.base);
      }
      const { client: writer, ids } = pick(writers);
      const client = new Client(await service.base, writer.token);
      const id = pick(ids);
      const kind = below(10);
      const write =
        kind < 6
          ? client.post(dept, { parentId: id, deptName: `created ${operation}` })
          : kind < 8
            ? client.put(dept, { deptId: id, deptName: `renamed ${operation}` })
            : client.put(dept, { deptId: id, deptName: `moved ${operation}`, parentId: pick(ids) });
      // The service may be killed in the middle of the write: committed or not, the feed must agree.
      const response = await write.catch(() => undefined);
      if (response?.code === 200 && kind < 6) {
        const created = String(response.headers.location).split('/').at(-1) as string;
        ids.push(created);
        acknowledged.get(writer.tenantId)?.push(created);
      }
      tally.add(response ? (response.code === 200 ? 'done' : (response.data?.reason ?? response.code)) : 'cut off');
    });

    // A read at the end of the feed puts all changes that are committed by now in order. One that finds a full page does not.
    await new Client(await service.base, top.token).get('/system/change-api?below=true&after=999999999');
    const [{ last }] = await superuser<[{ last: number }]>`select position as last from banyan.change_order`;
    for (const subscriber of subscribers) {
      await subscriber.waitForPosition(last);
      await subscriber.kill();
      const rows = subscriber.received();
      await assertComplete(codes, rows, acknowledged);
      tally.counts.received = tally.get('received') + rows.length;
    }
    const wanted = await superuser<{ id: number }[]>`
      select c.change_id as id from banyan.changes c join banyan.change_positions p using (tenant_id, change_id)
      where c.tenant_id = any (${codes}) and c.resource = 'department' and p.position > ${from}`;
    const delivered = () => new Set(receiver.accepted.map(({ data }) => data.id));
    await waitFor('the webhook has delivered all changes', () => delivered().size >= wanted.length);
    assert.deepEqual(
      [...delivered()].sort(),
      wanted.map(({ id }) => id).sort(),
      'the webhook delivers the same changes',
    );
    assertOrderPerRecord(receiver);
    tally.counts.delivered = tally.get('delivered') + wanted.length;
  }
  assert.ok(tally.get('done') > 0);
  assert.ok(tally.get('cut off') > 0, 'the service was killed in the middle of writes');
  report(t, { runs, tenants: TENANTS, writers: WRITERS, ...tally.counts, seed: firstSeed });
  assert.equal(await service.run.stop(), 0, service.run.stderr);
});

/**
 * Asserts that the changes of each record arrived in order. The last message of a record may arrive again, because the service
 * was killed before it stored that the message was delivered, but not after a later one.
 */
function assertOrderPerRecord({ accepted }: Receiver): void {
  const latest = new Map<string, number>();
  for (const { data } of accepted) {
    assert.ok((latest.get(data.resourceId) ?? 0) <= data.id, `the changes of department ${data.resourceId} in order`);
    latest.set(data.resourceId, data.id);
  }
}
