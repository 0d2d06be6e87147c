import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, read, readDept } from '../support/expect.ts';
import { type Answer, type Client, startService } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';
import { databaseOf, startNode } from './node.ts';

/** Requests that wait for locks of others, or for a connection. */

const service = await startService();
const { owner, superuser } = service;
const database = await databaseOf(service);

/** A tenant with a department that somebody else will lock, and another one. */
async function makeTenant() {
  const boss = await service.createTenant();
  return { boss, locked: await boss.createDepartment({ deptName: 'locked' }), free: await boss.createDepartment() };
}

const rename = (client: Client, deptId: string, deptName: string) => client.put(DEPTS, { deptId, deptName });

/** Locks departments while `work` runs. */
const withLocked = <T>(ids: string[], work: () => Promise<T>): Promise<T> =>
  superuser.begin(async (tx) => {
    await tx`select from departments where dept_id = any(${ids}::bigint[]) for update`;
    return work();
  }) as Promise<T>;

const waiting = (count: number) =>
  waitFor(`${count} wait for a lock`, async () => (await countWaiting(owner)) === count);

/** Expects that all of them are served while the pile is there; one that is blocked fails the test, and does not hang it. */
async function expectServed(calls: Record<string, () => Promise<Answer>>): Promise<void> {
  const blocked = new Set(Object.keys(calls));
  const answers = Object.entries(calls).map(async ([name, call]) => {
    const answer = await call();
    blocked.delete(name);
    return answer;
  });
  await waitFor('everybody else is served', () => blocked.size === 0).catch((cause) => {
    throw new Error(`Blocked: ${[...blocked]}`, { cause });
  });
  for (const answer of await Promise.all(answers)) assert.equal(answer.code, 200, answer.text);
}

/** Counts the requests that arrive at the service from now on. */
function countArrivals(): () => number {
  let arrivals = 0;
  service.app.server.on('request', () => arrivals++);
  return () => arrivals;
}

function expectTooBusy(answer: Answer): void {
  expectError(answer, 503, 'TOO_BUSY');
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
}

test('requests that pile up on two locked rows leave room for everybody else, also for their own tenants', async () => {
  const [few, many, neighbour] = [await makeTenant(), await makeTenant(), await makeTenant()];
  const pile = await withLocked([few.locked, many.locked], async () => {
    const arrivals = countArrivals();
    let answered = 0;
    const piled = [few, few, few, ...Array(20).fill(many)].map(async ({ boss, locked }, n) => {
      const answer = await rename(boss, locked, `changed ${n}`);
      answered++;
      return answer as Answer;
    });
    await waitFor('all have arrived', () => arrivals() === 23);
    await waitFor('updates wait for both rows', async () => (await countWaiting(owner)) >= 4);
    await expectServed({
      'list of a neighbour': () => neighbour.boss.get(`${DEPTS}/list`),
      'create of a neighbour': () => neighbour.boss.post(DEPTS, {}),
      'update of a neighbour': () => rename(neighbour.boss, neighbour.free, 'changed'),
      'read of a locked row': () => many.boss.get(`${DEPTS}/${many.locked}`),
      'read of the other locked row': () => few.boss.get(`${DEPTS}/${few.locked}`),
      'update where few wait': () => rename(few.boss, few.free, 'changed'),
      'update where many wait': () => rename(many.boss, many.free, 'changed'),
      'create where many wait': () => many.boss.post(DEPTS, {}),
    });
    assert.equal(answered, 0, 'the pile is still there');
    return { piled };
  });
  for (const answer of await Promise.all(pile.piled)) assert.equal(answer.code, 200, answer.text);
});

test('tenants that pile up on many locked rows leave room for a third one', async () => {
  const [one, other] = [await service.createTenant(), await service.createTenant()];
  const neighbour = await makeTenant();
  const locked: [Client, string][] = [];
  for (const boss of [one, other])
    for (let n = 0; n < 6; n++) locked.push([boss, await boss.createDepartment({ deptName: `locked too ${n}` })]);
  const pile = await withLocked(
    locked.map(([, id]) => id),
    async () => {
      const arrivals = countArrivals();
      let answered = 0;
      const piled = locked.map(async ([boss, deptId]) => {
        const answer = await rename(boss, deptId, 'changed');
        answered++;
        return answer;
      });
      await waitFor('all have arrived', () => arrivals() === 12);
      await waitFor('as many wait for a row as may', async () => (await countWaiting(owner)) >= 6);
      await expectServed({
        'list of a neighbour': () => neighbour.boss.get(`${DEPTS}/list`),
        'update of a neighbour': () => rename(neighbour.boss, neighbour.free, 'changed'),
        'create of a neighbour': () => neighbour.boss.post(DEPTS, {}),
        'read of a locked row': () => one.get(`${DEPTS}/${locked[0]?.[1]}`),
        'list of a tenant that waits': () => one.get(`${DEPTS}/list`),
      });
      assert.equal(answered, 0, 'the pile is still there');
      return { piled };
    },
  );
  for (const answer of await Promise.all(pile.piled)) assert.equal(answer.code, 200, answer.text);
});

test('a statement that waits too long for a lock is ended, and its request told to come again', async () => {
  const { boss, locked } = await makeTenant();
  const node = await startNode(database, { connectionTiming: { statementMs: 200 } });
  await withLocked([locked], async () => {
    const answers = Array.from({ length: 5 }, (_, n) => rename(node.as(boss), locked, `changed ${n}`));
    for (const answer of await Promise.all(answers)) expectTooBusy(answer);
    assert.equal(await countWaiting(owner), 0, 'nothing of it is left in the database');
  });
  assert.equal((await readDept(boss, locked)).deptName, 'locked');
});

test('requests that are not answered in time are told to come again, and are not carried out later', async () => {
  const { boss, locked } = await makeTenant();
  // No statement is ended: the first request keeps the only connection until the lock is gone.
  const node = await startNode(database, { connections: 1, timing: { responseMs: 200 } });
  const caller = node.as(boss);
  const before = node.uses.begun;
  const uses = (count: number) =>
    waitFor(`${count} connections are asked for`, () => node.uses.begun - before === count);
  await withLocked([locked], async () => {
    const answers = [rename(caller, locked, 'first')];
    await waiting(1);
    // Three transactions that wait for the connection, which is as many as create departments at once.
    for (const [n, deptName] of ['one', 'two', 'three'].entries()) {
      answers.push(caller.post(DEPTS, { deptName }));
      await uses(2 + n);
    }
    // One that waits for a batch of its own, and one that waits for its turn.
    answers.push(caller.post(DEPTS, { deptName: 'behind' }), rename(caller, locked, 'second'));
    for (const answer of await Promise.all(answers)) expectTooBusy(answer);
    assert.equal(await countWaiting(owner), 1, 'the first still waits');
  });
  await waitFor('all of them had their turn', () => node.uses.begun - before === 6 && node.uses.ended - before === 6);
  const { rows } = await read(boss, `${DEPTS}/list`);
  assert.deepEqual(rows.map(({ deptName }: { deptName: string }) => deptName).sort(), ['', 'locked']);
});

test('work that waited too long for a connection is not begun', async () => {
  const { boss } = await makeTenant();
  const waitMs = 20;
  const node = await startNode(database, { connections: 1, connectionTiming: { waitMs } });
  const caller = node.as(boss);
  const before = node.uses.begun;
  let answers: Promise<Answer>[] = [];
  await node.db.use(async () => {
    answers = [caller.post(DEPTS, { deptName: 'late' }), caller.get(`${DEPTS}/list`)];
    await waitFor('both wait for the only connection', () => node.uses.begun - before === 3);
    const since = performance.now();
    await waitFor('they have waited too long', () => performance.now() - since > waitMs);
  });
  for (const answer of await Promise.all(answers)) expectTooBusy(answer);
  assert.equal((await read(boss, `${DEPTS}/list?deptName=late`)).total, 0);
});

test('a request that may write a whole branch has more time for its answer than others', async () => {
  const { boss, locked, free } = await makeTenant();
  const child = await boss.createDepartment({ parentId: free });
  const node = await startNode(database, { timing: { responseMs: 200 } });
  const caller = node.as(boss);
  const { ordered } = await withLocked([child, locked], async () => {
    const ordered = caller.put(`${DEPTS}/order`, { parentId: free, deptIds: [child] });
    await waiting(1);
    // It came later, and has exceeded its time.
    expectTooBusy(await rename(caller, locked, 'changed'));
    return { ordered };
  });
  const { code, text } = await ordered;
  assert.equal(code, 200, text);
  assert.equal((await readDept(boss, child)).orderNum, 1);
});
