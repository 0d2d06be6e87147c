import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectOwner } from '../../db/sql.ts';
import { createDatabase } from '../support/database.ts';
import { newFolder, start } from '../support/process.ts';
import { chance, firstSeed, report, scale, Tally, together } from '../support/scale.ts';
import { Client, PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { type Order, readPieces } from './told.ts';

const dept = '/system/dept-api';
const ACTS = 200;

const { databaseUrl, superuserUrl } = await createDatabase();
const superuser = connectOwner({ url: superuserUrl });
after(() => superuser.end());
const folder = newFolder();
const startService = () => start(folder, { DATABASE_URL: databaseUrl });
let run = startService();
const root = await run.admin();
/** Where the service is; while it was killed and is not back yet, where it will be. */
let serving = Promise.resolve(root.base);

/** In the middle of writes: who calls while it stands still is cut off for certain. */
async function killService(): Promise<void> {
  run.child.kill('SIGSTOP');
  // Those whose answers had arrived by now send their next request.
  for (let turn = 0; turn < 3; turn++) await setImmediate();
  serving = run.kill('SIGKILL').then(async () => {
    run = startService();
    return (await run.ready()).base;
  });
  await serving;
}

async function makeTenant(): Promise<Client> {
  const admin = new Client(await serving, root.token);
  const id = await admin.create('/system/tenant-api', { tenantName: 't', username: 'boss', password: PASSWORD });
  const { tenantId } = (await admin.get(`/system/tenant-api/${id}`)).data;
  const { data } = await admin.post('/auth/login', { tenantId, username: 'boss', password: PASSWORD });
  return new Client(admin.base, data.access_token, undefined, tenantId);
}

interface Row {
  id: number;
  resource: string;
  before: { deptId: number } | null;
  after: { deptId: number; parentId: number; deptName: string } | null;
}

/** The process that follows, and what it has kept. One thing is done to it after the other. */
class Follower {
  private readonly order: Omit<Order, 'base'>;
  private child: ChildProcess | undefined;
  private turn = Promise.resolve();

  constructor(order: Omit<Order, 'base'>) {
    this.order = order;
    after(() => this.kill());
  }

  /** Begins where it was; one that is at work is told the service's address. */
  start(base: string): Promise<void> {
    this.turn = this.turn.then(() => {
      this.child ??= fork(fileURLToPath(new URL('./follower.js', import.meta.url)), { execArgv: [] });
      this.child.send({ ...this.order, base });
    });
    return this.turn;
  }

  kill(): Promise<void> {
    this.turn = this.turn.then(async () => {
      if (!this.child) return;
      this.child.kill('SIGKILL');
      await once(this.child, 'exit');
      this.child = undefined;
    });
    return this.turn;
  }

  pieces = () => readPieces(this.order.file);
  place = () => Number(this.pieces().at(-1)?.next ?? 0);
  told = () => this.pieces().flatMap(({ rows }) => rows as Row[]);
}

/** The departments, as somebody knows them who has never seen anything but these changes. */
function rebuild(rows: Row[]) {
  const tree = new Map<number, NonNullable<Row['after']>>();
  for (const { resource, before, after } of rows) {
    if (resource !== 'department') continue;
    if (before) assert.ok(tree.has(before.deptId), 'a change of what was never told of');
    if (!after) tree.delete(before?.deptId as number);
    else {
      // Nothing comes before what it stands on.
      if (after.parentId !== 0) assert.ok(tree.has(after.parentId), `${after.deptId} below an unknown parent`);
      tree.set(after.deptId, after);
    }
  }
  return [...tree.values()]
    .map(({ deptId, parentId, deptName }) => ({ deptId, parentId, deptName }))
    .sort((a, b) => a.deptId - b.deptId);
}

async function assertAllTold(tenantId: string, rows: Row[]) {
  const told = rows.map(({ id }) => id);
  assert.equal(new Set(told).size, told.length, 'none is told twice');
  const ledger = await superuser<{ id: number }[]>`
    select change_id as id from banyan.changes join banyan.seals using (tenant_id, change_id)
    where tenant_id = ${tenantId} and resource not in ('login', 'webhook') order by seq`;
  const committed = ledger.map(({ id }) => id);
  const missed = committed.filter((id) => !told.includes(id));
  const uncommitted = told.filter((id) => !committed.includes(id));
  assert.deepEqual({ missed, uncommitted }, { missed: [], uncommitted: [] });
  assert.deepEqual(told, committed, 'in the order of the ledger');
  const tree = await superuser<{ deptId: number; parentId: number; deptName: string }[]>`
    select dept_id as "deptId", coalesce(parent_id, 0) as "parentId", dept_name as "deptName"
    from banyan.departments where tenant_id = ${tenantId} and del_flag = '0' order by dept_id`;
  assert.deepEqual(rebuild(rows), [...tree]);
}

const name = 'the tree can be rebuilt from the feed alone while 16 write and both service and followers are killed';
test(name, async (t) => {
  const tally = new Tally();
  const runs = scale(1, 100);
  for (let n = 0; n < runs; n++) {
    const { pick, below } = chance(firstSeed + n);
    const boss = await makeTenant();
    const ids = await Promise.all(
      Array.from({ length: 8 }, (_, r) => boss.createDepartment({ deptName: `root ${r}` })),
    );
    const followers = (['calls', 'events'] as const).map(
      (way) => new Follower({ token: boss.token as string, file: path.join(folder, '..', `told ${n} ${way}`), way }),
    );
    const startAll = (base: string) => Promise.all(followers.map((follower) => follower.start(base)));
    await startAll(boss.base);
    const somewhere = () => 20 + below(ACTS - 40);
    const [serviceDies, followersDie] = [somewhere(), somewhere()];

    await together(16, ACTS, async (act) => {
      if (act === serviceDies) {
        await killService();
        await startAll(await serving);
      }
      if (act === followersDie) {
        await Promise.all(followers.map((follower) => follower.kill()));
        await startAll(await serving);
      }
      const client = new Client(await serving, boss.token);
      const id = pick(ids);
      const kind = below(10);
      const writing =
        kind < 5
          ? client.post(dept, { parentId: id, deptName: `made ${act}` })
          : kind < 7
            ? client.put(dept, { deptId: id, deptName: `named ${act}` })
            : kind < 9
              ? client.put(dept, { deptId: id, deptName: `moved ${act}`, parentId: pick(ids) })
              : client.delete(`${dept}/${id}${below(3) === 0 ? '?subtree=true' : ''}`);
      // Killed in the middle of it: done or not, the feed must know.
      const answer = await writing.catch(() => undefined);
      if (answer?.code === 200 && kind < 5) ids.push(String(answer.headers.location).split('/').at(-1) as string);
      if (answer?.code === 200 && kind === 9) ids.splice(ids.indexOf(id), 1);
      tally.add(answer ? (answer.code === 200 ? 'done' : (answer.data?.reason ?? answer.code)) : 'cut off');
    });

    // All that is committed by now has its place once somebody has asked.
    await new Client(await serving, boss.token).get('/system/change-api?limit=1');
    const [head] = await superuser<[{ seq: number }]>`
      select seq from banyan.seal_heads where tenant_id = ${boss.tenantId}`;
    for (const follower of followers) {
      await waitFor('the follower is at the end', () => follower.place() >= head.seq);
      await follower.kill();
      const rows = follower.told();
      await assertAllTold(boss.tenantId, rows);
      tally.counts.told = tally.get('told') + rows.length;
    }
  }
  assert.ok(tally.get('done') > 0);
  assert.ok(tally.get('cut off') > 0, 'it was killed in the middle of writes');
  report(t, { runs, ...tally.counts, seed: firstSeed });
  assert.equal(await run.stop(), 0, run.stderr);
});
