import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import { FairSlots } from '../../server/http/fair-slots.ts';
import { connectAsService } from '../support/cost.ts';
import { takeRecentLog } from '../support/logs.ts';
import { Receiver } from '../support/receiver.ts';
import { FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { environment, register } from './webhook-fairness.ts';

/** Webhooks of one subtree of the tenant tree do not delay those of others, and idle webhooks cost nothing. */

test('at each level of the tree a subtree leaves slots for its siblings', () => {
  const slots = new FairSlots(128);
  const takeAll = (...codes: string[]) => {
    let taken = 0;
    while (slots.take(['000000', ...codes])) taken++;
    return taken;
  };
  const release = slots.take(['000000', 'a', 'a1', 'a11']);
  const ofOneTenant = takeAll('a', 'a1', 'a12');
  assert.ok(ofOneTenant >= 20, `${ofOneTenant}`);
  let ofSubtree = 1 + ofOneTenant;
  for (let n = 0; n < 50; n++) ofSubtree += takeAll('a', `a${n + 2}`, 'x');
  // Two thirds of 128.
  assert.ok(ofSubtree <= 86, `${ofSubtree} slots of one subtree`);
  assert.ok(slots.fullSubtrees().length > 0);
  for (const code of ['b', 'c', 'd']) assert.ok(takeAll(code) > 0, code);
  assert.ok(slots.take(['000000']), 'the root tenant itself');
  release?.();
  assert.ok(slots.take(['000000', 'e']));
  // However deep it is, a tenant that is alone gets a slot.
  assert.ok(new FairSlots(4).take(Array.from({ length: 40 }, (_, n) => String(n))));
});

test('a webhook with more messages releases its slot after webhookTurnMs, and all messages still arrive in order', async () => {
  let claims = 0;
  const wrapDatabase = (db: Database): Database => ({
    ...db,
    use: (work) =>
      db.use((sql) =>
        work(
          new Proxy(sql, {
            apply(target, self, args) {
              if (String(args[0]).includes('with free as')) claims++;
              return Reflect.apply(target as never, self, args);
            },
          }),
        ),
      ),
  });
  const timing = { ...FAST_WEBHOOK_POLLING, webhookTurnMs: 0 };
  const service = await startService(environment, { timing, wrapDatabase });
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  await register(admin, receiver);
  const deptId = await admin.createDepartment({ deptName: '0' });
  for (let n = 1; n < 6; n++) await admin.put('/system/dept-api', { deptId, deptName: String(n) });
  await waitFor('all messages have arrived', () => receiver.accepted.length === 6);
  assert.deepEqual(
    receiver.accepted.map(({ data }) => data.after.deptName),
    ['0', '1', '2', '3', '4', '5'],
  );
  assert.ok(claims >= 6, `${claims} claims`);
});

test('a poll for due webhooks visits none of those without work', async () => {
  const service = await startService(environment, { timing: { webhookPollMs: 600_000, sealMs: 600_000 } });
  const admin = await service.createTenant();
  const connection = await connectAsService(service);
  await connection`set enable_seqscan = off`;
  const poll = async () => {
    const query = 'select * from banyan.due_webhooks(1000, 256, array[]::text[], array[]::text[])';
    let blocks = 0;
    // The first call also reads the catalogue.
    for (let n = 0; n < 2; n++) {
      const [{ 'QUERY PLAN': explained }] = await connection.unsafe<
        [{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }] }]
      >(`explain (analyze, buffers, timing off, format json) ${query}`);
      const { Plan: plan } = explained[0];
      blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    }
    return blocks;
  };
  const { superuser } = service;
  // Leave no unsealed changes: those of the creation of the tenants are irrelevant here.
  await superuser`delete from banyan.unsealed_changes`;
  const before = await poll();
  await superuser.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into banyan.webhooks (tenant_id, name, url, kinds, status, secret, seq, next_due, create_by)
      select ${admin.tenantId}, '', 'https://example.com/', '{*}', '0', 'x', 0,
        case when n % 2 = 0 then now() + interval '1 day' end, 'test' from generate_series(1, 5000) n`;
  });
  await superuser`analyze banyan.webhooks`;
  const after = await poll();
  assert.ok(after < before + 30, `${before} blocks before, ${after} after`);
});

test('only the first of several failed polls is logged, and only the first success after them', async () => {
  let failing = true;
  let polls = 0;
  const wrapDatabase = (db: Database): Database => ({
    ...db,
    use: (work) =>
      db.use((sql) =>
        work(
          new Proxy(sql, {
            apply(target, self, args) {
              if (!String(args[0]).includes('due_webhooks')) return Reflect.apply(target as never, self, args);
              polls++;
              if (failing) throw Object.assign(new Error('no such function'), { code: '42883' });
              return Reflect.apply(target as never, self, args);
            },
          }),
        ),
      ),
  });
  takeRecentLog();
  await startService(environment, { timing: FAST_WEBHOOK_POLLING, wrapDatabase });
  await waitFor('several polls have failed', () => polls > 3);
  failing = false;
  const lines = [...takeRecentLog()];
  const successes = () => lines.filter((line) => line.includes('webhook dispatching has resumed'));
  await waitFor('the next success is logged', () => {
    lines.push(...takeRecentLog());
    return successes().length > 0;
  });
  const before = polls;
  await waitFor('several more polls have succeeded', () => polls > before + 3);
  lines.push(...takeRecentLog());
  assert.equal(successes().length, 1);
  const errors = lines.filter((line) => line.includes('webhooks could not be dispatched'));
  assert.deepEqual([errors.length, errors[0]?.includes('no such function')], [1, true]);
});
