// Only with test:long: services and subscribers are processes that are killed and started again, and changes.test.ts covers the order of changes that two nodes seal concurrently.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { after } from '../support/cleanup.ts';
import { connectWithoutDeadline, createDatabase } from '../support/database.ts';
import { newDataFolder, start } from '../support/process.ts';
import { firstSeed, report, runConcurrently, seededRandom, Tally } from '../support/scale.ts';
import { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { KilledService } from './killed-service.ts';
import { type Row, rebuild, Subscriber } from './subscriber-process.ts';

const dept = '/system/dept-api';
const OPERATIONS = 200;

const { databaseUrl, superuserUrl } = await createDatabase();
const superuser = connectWithoutDeadline({ url: superuserUrl });
after(() => superuser.end());
const folder = newDataFolder();
const service = await KilledService.start(() => start(folder, { DATABASE_URL: databaseUrl }));

async function assertFeedComplete(tenantId: string, rows: Row[]) {
  const received = rows.map(({ id }) => id);
  assert.equal(new Set(received).size, received.length, 'no change is delivered twice');
  const ledger = await superuser<{ id: number }[]>`
    select change_id as id from banyan.changes join banyan.seals using (tenant_id, change_id)
    where tenant_id = ${tenantId} and resource not in ('login', 'webhook') order by seq`;
  const committed = ledger.map(({ id }) => id);
  const missed = committed.filter((id) => !received.includes(id));
  const uncommitted = received.filter((id) => !committed.includes(id));
  assert.deepEqual({ missed, uncommitted }, { missed: [], uncommitted: [] });
  assert.deepEqual(received, committed, 'changes come in the order of the ledger');
  const tree = await superuser<{ deptId: number; parentId: number; deptName: string }[]>`
    select dept_id as "deptId", coalesce(parent_id, 0) as "parentId", dept_name as "deptName"
    from banyan.departments where tenant_id = ${tenantId} and del_flag = '0' order by dept_id`;
  assert.deepEqual(rebuild(rows), [...tree]);
}

test('the tree can be rebuilt from the feed alone while 16 clients write and the service and subscribers are killed', async (t) => {
  const tally = new Tally();
  const runs = 25;
  for (let n = 0; n < runs; n++) {
    const { pick, below } = seededRandom(firstSeed + n);
    const admin = await service.createTenant();
    const ids = await Promise.all(
      Array.from({ length: 8 }, (_, r) => admin.createDepartment({ deptName: `root ${r}` })),
    );
    const subscribers = (['polling', 'events'] as const).map((transport) => {
      const file = path.join(folder, '..', `received ${n} ${transport}`);
      return new Subscriber({ token: admin.token as string, file, transport });
    });
    const startAll = (base: string) => Promise.all(subscribers.map((subscriber) => subscriber.start(base)));
    await startAll(admin.base);
    const randomOperation = () => 20 + below(OPERATIONS - 40);
    const [serviceKill, subscribersKill] = [randomOperation(), randomOperation()];

    await runConcurrently(16, OPERATIONS, async (operation) => {
      if (operation === serviceKill) {
        await service.killAndRestart();
        await startAll(await service.base);
      }
      if (operation === subscribersKill) {
        await Promise.all(subscribers.map((subscriber) => subscriber.kill()));
        await startAll(await service.base);
      }
      const client = new Client(await service.base, admin.token);
      const id = pick(ids);
      const kind = below(10);
      const write =
        kind < 5
          ? client.post(dept, { parentId: id, deptName: `created ${operation}` })
          : kind < 7
            ? client.put(dept, { deptId: id, deptName: `renamed ${operation}` })
            : kind < 9
              ? client.put(dept, { deptId: id, deptName: `moved ${operation}`, parentId: pick(ids) })
              : client.delete(`${dept}/${id}${below(3) === 0 ? '?subtree=true' : ''}`);
      // The service may be killed in the middle of the write: committed or not, the feed must agree.
      const response = await write.catch(() => undefined);
      if (response?.code === 200 && kind < 5) ids.push(String(response.headers.location).split('/').at(-1) as string);
      if (response?.code === 200 && kind === 9) ids.splice(ids.indexOf(id), 1);
      tally.add(response ? (response.code === 200 ? 'done' : (response.data?.reason ?? response.code)) : 'cut off');
    });

    // A read at the end of the feed seals all changes committed so far. A read that finds a full page does not.
    const client = new Client(await service.base, admin.token);
    await waitFor('all changes are sealed', async () => {
      const { code } = await client.get('/system/change-api?after=999999999');
      return code === 200;
    });
    const [head] = await superuser<[{ seq: number }]>`
      select seq from banyan.seal_heads where tenant_id = ${admin.tenantId}`;
    for (const subscriber of subscribers) {
      await subscriber.waitForPosition(head.seq);
      await subscriber.kill();
      const rows = subscriber.received();
      await assertFeedComplete(admin.tenantId, rows);
      tally.counts.received = tally.get('received') + rows.length;
    }
  }
  assert.ok(tally.get('done') > 0);
  assert.ok(tally.get('cut off') > 0, 'the service was killed in the middle of writes');
  report(t, { runs, ...tally.counts, seed: firstSeed });
  assert.equal(await service.run.stop(), 0, service.run.stderr);
});
