import assert from 'node:assert/strict';
import { test } from 'node:test';
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
    ];
    await together(2, 120, async (n) => {
      if (left < 23) return; // The first are told now: the pile is over.
      const { answer, ms } = await took((everybodyElse[n % 6] as () => Promise<Answer>)());
      assert.equal(answer.code, 200, answer.text);
      slowestOtherMs = Math.max(slowestOtherMs, ms);
      others++;
    });
    assert.ok(others >= 6, 'everybody else was served while the pile was there');
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
