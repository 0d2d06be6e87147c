import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fragment, Tx } from '../../db/driver.ts';
import { resultOf } from '../support/expect.ts';
import { report, runConcurrently, scale, seededRandom, seeds, Tally } from '../support/scale.ts';
import { type ApiResponse, asTenant, type Client, startService } from '../support/service.ts';
import { runBeforeStatement } from '../support/statements.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** What the service awaits before it updates a department. */
let beforeUpdate = async () => {};
const delayUpdate = runBeforeStatement('with before as materialized', () => beforeUpdate());
const service = await startService({}, { wrapDatabase: delayUpdate });
const WORKERS = 16;

const move = (client: Client, deptId: string, parentId: string) => client.put('/system/dept-api', { deptId, parentId });

/** Reads the tree over HTTP and asserts that it has no cycle and that every path is right. Returns the number of departments. */
async function assertTree(client: Client): Promise<number> {
  const parents = new Map<number, number>();
  const paths = new Map<number, string>();
  for (let pageNum = 1; ; pageNum++) {
    const { data } = await client.get(`/system/dept-api/list?pageNum=${pageNum}&pageSize=500`);
    for (const { deptId, parentId, ancestors } of data.rows) {
      parents.set(deptId, parentId);
      paths.set(deptId, ancestors);
    }
    if (parents.size >= data.total) break;
  }
  for (const [deptId, path] of paths) {
    const walked: number[] = [];
    for (let at = parents.get(deptId) ?? 0; at !== 0; at = parents.get(at) as number) {
      assert.ok(parents.has(at), `ancestor ${at} of department ${deptId} exists`);
      assert.ok(!walked.includes(at), `department ${deptId} is not in a cycle`);
      walked.unshift(at);
    }
    assert.equal(path, [0, ...walked].join(','), `the path of ${deptId}`);
  }
  return parents.size;
}

class Gate {
  open = () => {};
  readonly opened = new Promise<void>((open) => {
    this.open = open;
  });
}

test('an update of a department that is moved meanwhile takes its locks in order', async () => {
  const { superuser, owner } = service;
  const admin = await service.createTenant();
  const [home, away] = [await admin.createDepartment(), await admin.createDepartment()];
  const deptId = await admin.createDepartment({ parentId: home });
  const [locked, moved] = [new Gate(), new Gate()];
  let update: Promise<ApiResponse> | undefined;
  let other: Promise<void> | undefined;
  await asTenant(owner, admin.tenantId, async (tx) => {
    await tx`update departments set parent_id = ${away} where dept_id = ${deptId}`;
    update = admin.put('/system/dept-api', { deptId, parentId: home });
    await waitFor('the update waits for the row', async () => (await countLockWaits(tx)) === 1);
    // This transaction locks the tenant's row, then the department's, as a move does, and would be the first to detect a deadlock.
    other = superuser.begin(async (tx) => {
      await tx`set local deadlock_timeout = '10ms'`;
      await tx`select from banyan.tenants where tenant_id = ${admin.tenantId} for no key update`;
      locked.open();
      await moved.opened;
      await waitFor("the update waits for the tenant's row", async () => (await countLockWaits(tx)) === 1);
      await tx`select from banyan.departments where dept_id = ${deptId} for update`;
    }) as Promise<void>;
    await locked.opened;
  });
  moved.open();
  await other;
  assert.equal(resultOf((await update) as ApiResponse), 'done');
  assert.equal((await admin.get(`/system/dept-api/${deptId}`)).data.parentId, Number(home));
});

test('an update fails with TOO_BUSY and writes nothing when the department is moved before every retry', async () => {
  const admin = await service.createTenant();
  const [home, away] = [await admin.createDepartment(), await admin.createDepartment()];
  const deptId = await admin.createDepartment({ parentId: home, deptName: 'as it was' });
  const put = () => admin.put('/system/dept-api', { deptId, parentId: home, deptName: 'changed' });
  const moveTo = (parentId: string, then = async (_: Tx) => {}) =>
    asTenant(service.owner, admin.tenantId, async (tx) => {
      await tx`update departments set parent_id = ${parentId} where dept_id = ${deptId}`;
      await then(tx);
    });
  let attempts = 0;
  let moving: Promise<unknown> = Promise.resolve();
  beforeUpdate = async () => {
    attempts++;
    await moving;
    await moveTo(home);
    const locked = new Gate();
    moving = moveTo(away, async (tx) => {
      locked.open();
      await waitFor('the update waits for the row', async () => (await countLockWaits(tx)) === 1);
    });
    await locked.opened;
  };
  const response = await put();
  await moving;
  assert.deepEqual([response.status, resultOf(response), attempts], [503, 'TOO_BUSY', 4]);
  assert.match(String(response.headers['retry-after']), /^[1-9]/);
  const { data } = await admin.get(`/system/dept-api/${deptId}`);
  assert.deepEqual([data.deptName, data.parentId], ['as it was', Number(away)]);

  beforeUpdate = async () => {};
  assert.equal(resultOf(await put()), 'done');
});

test('concurrent random moves cause no cycle, wrong path, deadlock or 5xx response', async (t) => {
  const moves = scale(60, 2_000);
  for (const seed of seeds(scale(1, 3))) {
    const admin = await service.createTenant();
    const { below, pick } = seededRandom(seed);
    const refs = Array.from({ length: 60 }, (_, n) => `r${n}`);
    const departments = refs.map((ref, n) => ({ ref, ...(n < 5 ? {} : { parentRef: pick(refs.slice(0, n)) }) }));
    const ids: string[] = (await admin.post('/system/dept-api/bulk', { departments })).data.deptIds.map(String);
    const tally = new Tally();
    await runConcurrently(WORKERS, moves, async () => {
      const response = await move(admin, pick(ids), below(20) === 0 ? '0' : pick(ids));
      tally.add(resultOf(response));
    });
    // At random there may be no such move.
    tally.add(resultOf(await move(admin, String(ids[0]), String(ids[0]))));
    assert.deepEqual(Object.keys(tally.counts).sort(), ['DEPT_CYCLE', 'done']);
    assert.equal(await assertTree(admin), 60);
    const [{ deadlocks }] = await service.superuser<[{ deadlocks: number }]>`
      select deadlocks::int from pg_stat_database where datname = current_database()`;
    assert.equal(deadlocks, 0);
    report(t, { seed, moves, ...tally.counts, deadlocks });
  }
});

test('exactly one of two concurrent moves of A below B and B below A fails', async (t) => {
  const admin = await service.createTenant();
  const rounds = scale(4, 200);
  for (let round = 0; round < rounds; round++) {
    const [a, b] = [await admin.createDepartment(), await admin.createDepartment()];
    const outcomes = (await Promise.all([move(admin, a, b), move(admin, b, a)])).map(resultOf);
    assert.deepEqual(outcomes.sort(), ['DEPT_CYCLE', 'done']);
  }
  report(t, { rounds, rejectedPerRound: 1 });
});

test('deleting a parent while a child is created below it never leaves a live child of a deleted parent', async (t) => {
  const admin = await service.createTenant();
  const rounds = scale(12, 300);
  const tally = new Tally();
  await runConcurrently(4, rounds, async (round) => {
    const parentId = await admin.createDepartment();
    const create = () => admin.post('/system/dept-api', { parentId });
    const remove = () => admin.delete(`/system/dept-api/${parentId}`);
    const [first, second] = round % 2 ? [create, remove] : [remove, create];
    const responses = await Promise.all([first(), second()]);
    tally.add(responses.map(resultOf).sort().join(' + '));
  });
  const [{ orphans }] = await service.superuser<[{ orphans: number }]>`
    select count(*)::int as orphans from departments c
    join departments p on p.tenant_id = c.tenant_id and p.dept_id = c.parent_id
    where c.tenant_id = ${admin.tenantId} and c.del_flag = '0' and p.del_flag <> '0'`;
  assert.equal(orphans, 0);
  const known = ['DEPT_HAS_CHILDREN + done', 'PARENT_NOT_FOUND + done'];
  assert.deepEqual(
    Object.keys(tally.counts).filter((outcome) => !known.includes(outcome)),
    [],
  );
  report(t, { rounds, ...tally.counts, orphans });
});

test('deleting a department while a user joins it never leaves a user in a deleted department', async (t) => {
  const admin = await service.createTenant();
  const rounds = scale(12, 300);
  const tally = new Tally();
  await runConcurrently(4, rounds, async (round) => {
    const deptId = await admin.createDepartment();
    const userId = await admin.createUser({ userName: `joins${round}` });
    const body = round % 3 ? { userId, deptId } : { userId, deptIds: [deptId] };
    const join = () => admin.put('/system/user-api', body);
    const remove = () => admin.delete(`/system/dept-api/${deptId}`);
    const [first, second] = round % 2 ? [join, remove] : [remove, join];
    const responses = await Promise.all([first(), second()]);
    tally.add(responses.map(resultOf).sort().join(' + '));
    const [{ count }] = await service.superuser<[{ count: number }]>`
      select count(*)::int from user_departments m join departments d using (tenant_id, dept_id)
      where m.tenant_id = ${admin.tenantId} and d.del_flag <> '0'`;
    assert.equal(count, 0);
  });
  assert.equal(tally.get('done + done'), 0);
  assert.equal(tally.get('DEPT_HAS_USERS + done') + tally.get('USER_DEPT_NOT_FOUND + done'), rounds);
  report(t, { rounds, ...tally.counts });
});

test('overlapping batch deletes delete all or nothing, in any order of ids', async (t) => {
  const admin = await service.createTenant();
  const rounds = scale(2, 200);
  const tally = new Tally();
  for (let round = 0; round < rounds; round++) {
    const parent = await admin.createDepartment();
    const child = await admin.createDepartment({ parentId: parent });
    for (const ids of [
      [parent, child],
      [child, parent],
    ]) {
      const response = await admin.delete(`/system/dept-api/${ids}`);
      assert.equal(response.data.reason, 'DEPT_HAS_CHILDREN');
      assert.deepEqual(response.data.deptIds, [Number(parent)]);
    }
    const [a, b, c] = [await admin.createDepartment(), await admin.createDepartment(), await admin.createDepartment()];
    const batches = [
      [a, b],
      [b, c],
      [c, b, a],
    ];
    const responses = await Promise.all(batches.map((ids) => admin.delete(`/system/dept-api/${ids}`)));
    for (const response of responses) tally.add(resultOf(response));
    const deleted = new Set(batches.filter((_, n) => responses[n]?.code === 200).flat());
    for (const id of [a, b, c]) {
      assert.equal(
        (await admin.get(`/system/dept-api/${id}`)).code,
        deleted.has(id) ? 404 : 200,
        'all or nothing is deleted',
      );
    }
    // All batches contain b, so one succeeds; the others fail on ids that are already deleted.
    assert.equal(responses.filter(({ code }) => code === 200).length, 1);
  }
  assert.deepEqual(Object.keys(tally.counts).sort(), ['DEPT_NOT_FOUND', 'done']);
  report(t, { rounds, ...tally.counts });
});

test('every path is right after a subtree was moved while departments were created in it', async (t) => {
  const admin = await service.createTenant();
  const size = scale(30, 1_000);
  const { pick } = seededRandom(seeds(1)[0] as number);
  const [left, right] = [await admin.createDepartment(), await admin.createDepartment()];
  const subtree = [await admin.createDepartment({ parentId: left })];
  await runConcurrently(WORKERS, size - 1, async () => {
    subtree.push(await admin.createDepartment({ parentId: pick(subtree) }));
  });
  let moves = 0;
  let creating = true;
  const moving = (async () => {
    while (creating) {
      assert.equal((await move(admin, subtree[0] as string, moves++ % 2 ? left : right)).code, 200);
    }
  })();
  await runConcurrently(WORKERS - 1, size, async () => {
    subtree.push(await admin.createDepartment({ parentId: pick(subtree) }));
  });
  creating = false;
  await moving;
  assert.equal(await assertTree(admin), 2 + 2 * size);
  report(t, { subtree: size, createdMeanwhile: size, moves });
});

test('a transaction that hits a deadlock is retried from the beginning, also when its statements are pipelined', async () => {
  // A separate service: another test of this file asserts that its database has had no deadlocks.
  const { superuser, owner, ...node } = await startService();
  const admin = await node.createTenant();
  const { user } = (await admin.get('/auth/me')).data;
  const [deptId, away] = [await admin.createDepartment(), await admin.createDepartment()];
  // The move stops after it has inserted its idempotency key, until the other transaction waits for that key. Then it waits
  // for the tenant's row and so closes the cycle: it is the transaction that detects the deadlock.
  await owner.unsafe(`
    create function banyan.stop_after_key() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
    create trigger stop_after_key after insert on banyan.idempotency_keys
      for each row execute function banyan.stop_after_key();`);
  await owner`select pg_advisory_lock(4711)`;
  const moving = admin.put('/system/dept-api', { deptId, parentId: away }, { headers: { 'idempotency-key': 'once' } });
  // Background work such as sealing may wait for locks too, so count only the waits of these transactions.
  const waits = async (condition: Fragment) =>
    (await owner`select from pg_locks where not granted and ${condition}`).length > 0;
  const ofThisDatabase = owner`database = (select oid from pg_database where datname = current_database())`;
  await waitFor('the move has inserted its key', () =>
    waits(owner`locktype = 'advisory' and objid = 4711 and ${ofThisDatabase}`),
  );
  let otherPid = 0;
  const other = superuser.begin(async (tx) => {
    const [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
    otherPid = pid;
    await tx`set local deadlock_timeout = '10min'`;
    await tx`select from banyan.tenants where tenant_id = ${admin.tenantId} for update`;
    await tx`insert into banyan.idempotency_keys (tenant_id, user_id, key, fingerprint)
      values (${admin.tenantId}, ${user.userId}, 'once', '')`;
    throw new Error('rolled back');
  });
  await waitFor('the other transaction waits for the key', () => waits(owner`pid = ${otherPid}`));
  await owner`select pg_advisory_unlock(4711)`;
  await assert.rejects(other, /rolled back/);
  assert.equal(resultOf(await moving), 'done');
  assert.equal((await admin.get(`/system/dept-api/${deptId}`)).data.parentId, Number(away));
  const [{ deadlocks }] = await superuser<[{ deadlocks: number }]>`
    select deadlocks::int from pg_stat_database where datname = current_database()`;
  assert.ok(deadlocks > 0);
});
