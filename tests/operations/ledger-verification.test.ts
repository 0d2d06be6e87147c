import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import type { Tx } from '../../db/driver.ts';
import { createAnchor, parseAnchor } from '../../server/ledger/anchor.ts';
import { type VerifyOptions, verifyLedger } from '../../server/ledger/verify.ts';
import { startArchiving } from '../../server/process/archiving.ts';
import { CHANGES, DEPTS, TENANTS } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/**
 * What verification finds after someone who can write to the tables has covered their tracks, and archiving during a verification
 * or a shutdown.
 */

const service = await startService();
const { superuser, owner } = service;

/** Creates a tenant with sealed changes of itself, a department and a user. */
async function createChanges() {
  const admin = await service.createTenant();
  const id = await admin.createDepartment({ deptName: '总部' });
  await admin.put(DEPTS, { deptId: id, deptName: '一' });
  await admin.createUser({ userName: 'anna', deptId: id });
  await service.root.put(TENANTS, { id: admin.id, tenantName: 'renamed' });
  // Reading the feed seals the ledger.
  for (const client of [service.root, admin]) await client.get(CHANGES);
  return { admin, tenantId: admin.tenantId, id };
}

/** Writes without triggers, so that nothing is recorded. */
const tamper = (work: (tx: Tx) => Promise<unknown>) =>
  superuser.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    // The service seals in the background: it must not continue a chain that is being changed.
    // The tables are locked in the order in which seal_changes uses them.
    await tx`lock table banyan.unsealed_changes, banyan.seal_heads`;
    await work(tx as never);
  });

const errorsOf = async (tenantId: string, options: VerifyOptions = {}) => {
  const { errors } = await verifyLedger(owner, options);
  return errors.filter((error) => error.startsWith(`Tenant ${tenantId}: `)).map((error) => error.slice(15));
};

test('records that were altered, inserted or removed without a row in the ledger are found', async () => {
  const { tenantId, id, admin } = await createChanges();
  assert.deepEqual(await errorsOf(tenantId), []);
  await tamper(async (tx) => {
    await tx`update banyan.departments set leader = 'forged' where tenant_id = ${tenantId} and dept_id = ${id}`;
    await tx`insert into banyan.departments (tenant_id, dept_id, create_by) values (${tenantId}, 7, 'forged')`;
    await tx`update banyan.users set administrator = true where tenant_id = ${tenantId} and user_name = 'anna'`;
    await tx`update banyan.tenants set account_count = 9 where tenant_id = ${tenantId}`;
  });
  const [anna] = await superuser`
    select user_id::text as id from banyan.users where tenant_id = ${tenantId} and user_name = 'anna'`;
  assert.deepEqual(await errorsOf(tenantId), [
    'department 7 has no change: it was inserted, or its changes were removed.',
    `department ${id} is not as its last change left it.`,
    `tenant ${admin.id} is not as its last change left it.`,
    `user ${anna?.id} is not as its last change left it.`,
  ]);
  await tamper((tx) => tx`delete from banyan.departments where tenant_id = ${tenantId} and dept_id = ${id}`);
  assert.match((await errorsOf(tenantId)).join(), new RegExp(`department ${id} is missing, although`));
});

test('an altered path, an altered version and a missing version of a tenant are found', async () => {
  const { tenantId } = await createChanges();
  await tamper(async (tx) => {
    await tx`update banyan.tenants set path = array['000000', '999999', ${tenantId}] where tenant_id = ${tenantId}`;
    await tx`update banyan.tenant_versions set record = record || '{"tenant_name": "forged"}'
      where tenant_id = ${tenantId} and record ->> 'tenant_name' = 'renamed'`;
    await tx`delete from banyan.tenant_versions where tenant_id = ${tenantId} and record ->> 'update_time' is null`;
  });
  const errors = (await errorsOf(tenantId)).join(' ');
  assert.match(errors, /its path does not continue the path of its parent/);
  assert.match(errors, /version [0-9a-f]{64} of its record was altered/);
  assert.match(errors, /the record of change \d+ is missing/);
  assert.match((await errorsOf('000000')).join(), /the record of change \d+ is missing/);
});

test('deleted changes whose seals are marked as archived are found', async () => {
  const { tenantId, id } = await createChanges();
  await tamper(async (tx) => {
    const deleted = await tx`
      delete from banyan.changes where tenant_id = ${tenantId} and resource = 'department' and action = 'created'
      returning change_id`;
    await tx`update banyan.seals set archived = true where tenant_id = ${tenantId}
      and change_id = any (${deleted.map(({ change_id }) => String(change_id))}::bigint[])`;
  });
  for (const ledgerDays of ['keep', 1] as const) {
    const errors = await errorsOf(tenantId, { ledgerDays });
    assert.equal(errors.length, 2, errors.join());
    assert.match(errors[0] as string, /^change \d+ at position \d+ was archived, although BANYAN_LEDGER_DAYS keeps it/);
    assert.equal(errors[1], `the first changes of department ${id} are missing.`);
  }
});

test('the loss of a whole ledger is detected', async () => {
  const { tenantId, id, admin } = await createChanges();
  await tamper(async (tx) => {
    for (const table of ['changes', 'seals', 'seal_heads', 'unsealed_changes', 'tenant_versions']) {
      await tx`delete from ${tx(`banyan.${table}`)} where tenant_id = ${tenantId}`;
    }
  });
  const errors = await errorsOf(tenantId);
  const reason = 'has no change: it was inserted, or its changes were removed.';
  assert.ok(errors.includes(`department ${id} ${reason}`), errors.join());
  assert.ok(errors.includes(`tenant ${admin.id} ${reason}`), errors.join());
});

test('a chain that was rewritten completely differs from an anchor', async () => {
  const { tenantId, admin } = await createChanges();
  const { heads } = await verifyLedger(owner);
  const anchor = createAnchor('2026-11-17T00:00:00Z', heads, undefined);
  await admin.createDepartment();
  assert.deepEqual(await errorsOf(tenantId, { anchor }), []);
  await tamper(async (tx) => {
    await tx`update banyan.changes set actor_name = 'forged' where tenant_id = ${tenantId} and resource = 'user'`;
    await tx`delete from banyan.seals where tenant_id = ${tenantId}`;
    await tx`delete from banyan.seal_heads where tenant_id = ${tenantId}`;
    await tx`insert into banyan.unsealed_changes select tenant_id, change_id from banyan.changes
      where tenant_id = ${tenantId} on conflict do nothing`;
  });
  await admin.get(CHANGES);
  assert.deepEqual(await errorsOf(tenantId), []);
  const errors = await errorsOf(tenantId, { anchor });
  assert.match(errors.join(), /^the chain was rewritten: position \d+ does not have the hash of the anchor\.$/);
  const longer = {
    ...anchor,
    heads: [
      { tenantId, seq: 1_000, hash: '00' },
      { tenantId: '999999999', seq: 1, hash: '' },
    ],
  };
  assert.match(
    (await errorsOf(tenantId, { anchor: longer })).join(),
    /the chain ends at position \d+, but the anchor has/,
  );
  assert.ok(
    (await verifyLedger(owner, { anchor: longer })).errors.includes('Tenant 999999999: the ledger is missing.'),
  );
});

test('a signed anchor is rejected if its signature is wrong or no key is passed', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const key = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const anchor = createAnchor('2026-11-17T00:00:00Z', [{ tenantId: '000000', seq: 0, hash: '' }], pem);
  const signed = JSON.stringify(anchor);
  assert.deepEqual(parseAnchor(signed, key).heads, anchor.heads);
  const altered = JSON.stringify({ ...anchor, heads: [] });
  assert.throws(() => parseAnchor(altered, key), /signature of the anchor is wrong/);
  assert.throws(() => parseAnchor(signed, undefined), /anchor is signed\. Pass the key/);
  assert.throws(() => parseAnchor(key, undefined), /not an anchor/);
  assert.throws(() => parseAnchor(signed, signed), /must be an Ed25519 key/);
});

test('changes that are archived during the verification are not reported', async () => {
  const { tenantId, id } = await createChanges();
  let verification: ReturnType<typeof errorsOf> | undefined;
  await tamper(async (tx) => {
    // The verification has read the settings and waits. Then a change is archived, as archive.ts does it.
    await tx`lock table banyan.tenants in access exclusive mode`;
    verification = errorsOf(tenantId, { ledgerDays: 1 });
    await waitFor('the verification waits', async () => (await countLockWaits(tx, 'relation')) > 0);
    await tx`update banyan.ledger_retention set complete_from = clock_timestamp()`;
    const moved = await tx`
      with removed as (
        delete from banyan.changes where tenant_id = ${tenantId} and resource = 'department' and resource_id = ${id}
          and action = 'created' returning *
      ), archived as (
        insert into banyan.changes_archive select * from removed
      )
      update banyan.seals s set archived = true from removed r
      where s.tenant_id = r.tenant_id and s.change_id = r.change_id`;
    assert.equal(moved.count, 1);
  });
  assert.deepEqual(await verification, []);
});

test('a shutdown does not wait for archiving that waits for a lock', async () => {
  let stopped = false;
  await superuser.begin(async (tx) => {
    await tx`lock table banyan.ledger_retention`;
    const lines: string[] = [];
    const stop = startArchiving({ url: service.databaseUrl }, 1, (line) => lines.push(line));
    await waitFor('the archive waits', async () => (await countLockWaits(owner)) > 0);
    await stop();
    stopped = true;
    assert.deepEqual(lines, []);
  });
  assert.ok(stopped);
});
