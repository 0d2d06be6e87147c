import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PASSWORD, startService } from '../harness.ts';
import { report, scale, Tally } from '../scale.ts';
import { callTogether, wire } from './crowd.ts';

/** Checking a password is slow on purpose. A flood of logins must not make everything else as slow. */

const service = await startService();
const boss = await service.tenant();
const member = await service.member(boss, { userName: 'reader' });
const id = await boss.dept({ deptName: 'still here' });
const { base, nobody } = service;
const read = wire(boss, 'GET', `/system/dept-api/${id}`);

/** From many addresses, or the guard against guessing would stop them before any hashing. */
const login = (username: string, from?: string) =>
  nobody.post('/auth/login', { tenantId: boss.tenantId, username, password: PASSWORD }, from ? { from } : {});

test('while 300 logins are under way others are answered, and what is too much is told so', async (t) => {
  const logins = scale(300, 1_000);
  let underWay = logins;
  const waits: number[] = [];
  const flood = Array.from({ length: logins }, async (_, n) => {
    const began = performance.now();
    const answer = await login(`nobody${n}`, `127.1.${n >> 7}.${1 + (n & 127)}`);
    underWay--;
    if (answer.status === 503 || answer.status === 429) {
      waits.push(performance.now() - began);
      assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    }
    return answer.status;
  });
  // Every day for less time than the quickest machine takes for those that are let in.
  const reads = await callTogether({ base, request: read, connections: 8, ms: scale(300, 3_000) });
  const left = underWay;
  const statuses = await Promise.all(flood);
  assert.ok(left > 0, 'the logins were still under way');
  assert.ok((reads.statuses['200'] ?? 0) > 0, 'reads were answered meanwhile');
  const told = new Tally();
  for (const status of statuses) told.add(status);
  for (const status of Object.keys(told.counts)) assert.match(status, /^(200|401|429|503)$/);
  assert.equal((await login('reader')).status, 200);
  assert.equal((await member.get(`/system/dept-api/${id}`)).status, 200);
  report(t, {
    logins,
    answers: told.counts,
    refusedAfterMs: { first: Math.round(Math.min(...waits)), last: Math.round(Math.max(...waits)) },
    stillUnderWayAfterReads: left,
    reads,
  });
});
