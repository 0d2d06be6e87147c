import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Answer, Client } from '../harness.ts';
import { startService } from '../harness.ts';
import { report, together } from '../scale.ts';
import { countWaiting, until } from '../waiting.ts';
import { DEADLINE_MS, SLACK_MS } from './writer.ts';

const service = await startService();

/** A tenant with a department that somebody else will lock, and another one. */
async function makeTenant() {
  const boss = await service.tenant();
  return { boss, locked: await boss.dept({ deptName: 'locked' }), free: await boss.dept() };
}
type Tenant = Awaited<ReturnType<typeof makeTenant>>;

const rename = (client: Client, deptId: string, deptName: string) =>
  client.put('/system/dept-api', { deptId, deptName });

async function took(work: Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  const began = performance.now();
  return { answer: await work, ms: Math.round(performance.now() - began) };
}

test('requests pile up on locked rows: each is told in time to come again, and all others go on', async (t) => {
  const [few, many, neighbour] = [await makeTenant(), await makeTenant(), await makeTenant()];
  let [left, slowestMs, others, slowestOtherMs] = [0, 0, 0, 0];
  const pileUp = ({ boss, locked }: Tenant, count: number) =>
    Array.from({ length: count }, async (_, n) => {
      left++;
      const { answer, ms } = await took(rename(boss, locked, `changed ${n}`));
      left--;
      slowestMs = Math.max(slowestMs, ms);
      assert.equal(answer.status, 503, answer.text);
      assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    });
  await service.superuser.begin(async (tx) => {
    await tx`select from departments where dept_name = 'locked' for update`;
    const piled = Promise.all([...pileUp(few, 3), ...pileUp(many, 20)]);
    await until(async () => (await countWaiting(service.owner)) >= 4, 'updates wait for both rows');
    const everybodyElse: (() => Promise<Answer>)[] = [
      () => neighbour.boss.get('/system/dept-api/list'),
      () => neighbour.boss.post('/system/dept-api', {}),
      () => rename(neighbour.boss, neighbour.free, 'changed'),
      () => many.boss.get(`/system/dept-api/${many.locked}`),
      () => few.boss.get(`/system/dept-api/${few.locked}`),
      () => rename(few.boss, few.free, 'changed'),
      () => rename(many.boss, many.free, 'changed'),
      () => many.boss.post('/system/dept-api', {}),
    ];
    const served = new Set<number>();
    await together(2, 160, async (n) => {
      if (left < 23) return; // The first are told now: the pile is over.
      const { answer, ms } = await took((everybodyElse[n % everybodyElse.length] as () => Promise<Answer>)());
      assert.equal(answer.code, 200, answer.text);
      if (left < 23) return;
      slowestOtherMs = Math.max(slowestOtherMs, ms);
      others++;
      served.add(n % everybodyElse.length);
    });
    assert.equal(served.size, everybodyElse.length, 'everybody else was served while the pile was there');
    await piled;
  });
  report(t, { piled: 23, slowestMs, others, slowestOtherMs });
  assert.ok(slowestMs < DEADLINE_MS + SLACK_MS, `answered after ${slowestMs} ms`);
  for (const { boss, locked } of [few, many]) {
    const { data } = await boss.get(`/system/dept-api/${locked}`);
    assert.equal(data.deptName, 'locked', 'what was refused is not done behind the back');
    assert.equal((await rename(boss, locked, 'now')).code, 200);
  }
});

test('where two tenants have piled up on many locked rows, all others read and write', async (t) => {
  const [one, other] = [await service.tenant(), await service.tenant()];
  const neighbour = await makeTenant();
  const locked: [Client, string][] = [];
  for (const boss of [one, other])
    for (let n = 0; n < 6; n++) locked.push([boss, await boss.dept({ deptName: `locked too ${n}` })]);
  let told = 0;
  let others = 0;
  await service.superuser.begin(async (tx) => {
    await tx`select from departments where dept_name like 'locked too %' for update`;
    const piled = Promise.all(
      locked.map(async ([boss, deptId]) => {
        const { status, data, text } = await rename(boss, deptId, 'changed');
        told++;
        assert.equal(status, 503, text);
        assert.equal(data.reason, 'TOO_BUSY');
      }),
    );
    await until(async () => (await countWaiting(service.owner)) >= 6, 'as many wait for a row as may');
    const everybodyElse: (() => Promise<Answer>)[] = [
      () => neighbour.boss.get('/system/dept-api/list'),
      () => rename(neighbour.boss, neighbour.free, 'changed'),
      () => neighbour.boss.post('/system/dept-api', {}),
      () => one.get(`/system/dept-api/${locked[0]?.[1]}`),
      () => one.get('/system/dept-api/list'),
    ];
    for (const call of everybodyElse) {
      const answer = await call();
      assert.equal(told, 0, 'it was answered when the first of those who had piled up were told to come again');
      assert.equal(answer.code, 200, answer.text);
      others++;
    }
    await piled;
  });
  report(t, { piled: told, others });
});

test('who waited too long for a connection is told so, and his work is not done behind his back', async (t) => {
  const narrow = await startService({}, { connections: 1 });
  const boss = await narrow.tenant();
  const locked = await boss.dept({ deptName: 'locked' });
  await narrow.superuser.begin(async (tx) => {
    await tx`select from departments where dept_name = 'locked' for update`;
    // Each of these two holds the only connection until its statement is cut off.
    const first = took(rename(boss, locked, 'changed'));
    await until(async () => (await countWaiting(narrow.owner)) === 1, 'the first waits for the row');
    // So much later that its own patience does not end when the first's does; and the other stands in line behind it.
    await setTimeout(1_000);
    const second = took(rename(boss, locked, 'changed'));
    await setTimeout(100);
    const late = await took(boss.post('/system/dept-api', { deptName: 'late' }));
    for (const { answer, ms } of [await first, await second, late]) {
      assert.equal(answer.status, 503, answer.text);
      assert.ok(ms < DEADLINE_MS + SLACK_MS, `answered after ${ms} ms`);
    }
    report(t, { firstMs: (await first).ms, secondMs: (await second).ms, lateMs: late.ms });
  });
  assert.equal((await boss.get('/system/dept-api/list?deptName=late')).data.total, 0, 'it was done after its answer');
});

test('who was told to come again finds nothing done, whenever his turn came', async () => {
  const narrow = await startService({}, { connections: 1 });
  const boss = await narrow.tenant();
  const locked = await boss.dept({ deptName: 'locked' });
  const create = (deptName: string) => took(boss.post('/system/dept-api', { deptName }));
  const names = ['one', 'two', 'three'];
  const done = ['locked'];
  await narrow.superuser.begin(async (tx) => {
    await tx`select from departments where dept_name = 'locked' for update`;
    const first = took(rename(boss, locked, 'first'));
    await until(async () => (await countWaiting(narrow.owner)) === 1, 'the first waits for the row');
    // Three that wait for the connection, and one behind them, who goes with none.
    const inLine: ReturnType<typeof create>[] = [];
    for (const name of names) {
      inLine.push(create(name));
      await setTimeout(50);
    }
    // So much later that their own patience does not end when the first's does.
    await setTimeout(1_000);
    const behind = create('behind');
    const second = took(rename(boss, locked, 'second'));
    for (const { answer } of [await first, await behind, await second]) assert.equal(answer.status, 503, answer.text);
    for (const [n, { answer }] of (await Promise.all(inLine)).entries()) {
      if (answer.code === 200) done.push(names[n] as string);
      else assert.equal(answer.status, 503, answer.text);
    }
    // The row is free now: the second goes on, and then the one behind.
  });
  await until(async () => (await boss.get('/system/dept-api/list')).status === 200, 'the connection is free');
  const { rows } = (await boss.get('/system/dept-api/list')).data;
  assert.deepEqual(rows.map(({ deptName }: { deptName: string }) => deptName).sort(), done.sort());
});

test('what may write a whole branch has longer for its answer than ten seconds', async () => {
  const { boss, free } = await makeTenant();
  const child = await boss.dept({ parentId: free, deptName: 'held for long' });
  const ordered = await service.superuser.begin(async (tx) => {
    await tx`select from departments where dept_name = 'held for long' for update`;
    await tx`savepoint before_tenant`;
    await tx`select from tenants where tenant_id = ${boss.tenantId} for update`;
    const answer = boss.put('/system/dept-api/order', { parentId: free, deptIds: [child] });
    await until(async () => (await countWaiting(service.owner)) === 1, 'it waits for its tenant');
    // No statement may wait for 8 seconds; two may, one after the other, for more than ten.
    await setTimeout(6_000);
    await tx`rollback to before_tenant`;
    await setTimeout(6_000);
    return { answer };
  });
  const { code, text } = await ordered.answer;
  assert.equal(code, 200, text);
  assert.equal((await boss.get(`/system/dept-api/${child}`)).data.orderNum, 1);
});
