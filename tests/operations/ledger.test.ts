import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { archiveLedger } from '../../server/ledger/archive.ts';
import { verifyLedger } from '../../server/ledger/verify.ts';
import { takeRecentLog } from '../support/logs.ts';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The ledger as its operator sees it: a hash chain that reveals tampering, and an archive. */

const service = await startService({}, { timing: { sealMs: 100 } });
const { superuser, owner } = service;
const dept = '/system/dept-api';

/** Creates a tenant with some sealed changes. */
async function createChanges() {
  const admin = await service.createTenant();
  const id = await admin.createDepartment({ deptName: '总部' });
  for (const deptName of ['一', '二', '三']) await admin.put(dept, { deptId: id, deptName });
  const { data } = await admin.get('/system/change-api?limit=100');
  const changes: number[] = data.rows.map((row: { id: number }) => row.id);
  return { admin, tenantId: admin.tenantId, id, changes };
}

const readErrors = async () => (await verifyLedger(owner)).errors;

test("the service's role can neither update nor delete rows of the ledger", async () => {
  const privileges = await superuser<{ table: string; privilege: string }[]>`
    select t as table, p as privilege from service_login, unnest(array['changes', 'seals', 'changes_archive']) t,
      unnest(array['update', 'delete', 'truncate', 'references', 'trigger']) p
    where has_table_privilege(role, 'banyan.' || t, p)
      or (p = 'update' and has_any_column_privilege(role, 'banyan.' || t, p))`;
  assert.deepEqual([...privileges], []);
});

test('changes that nobody reads are sealed in the background', async () => {
  const admin = await service.createTenant();
  await admin.createDepartment();
  await waitFor('all changes are sealed', async () => {
    const [{ left }] = await superuser<[{ left: number }]>`
      select count(*)::int as left from banyan.unsealed_changes where tenant_id = ${admin.tenantId}`;
    return left === 0;
  });
  assert.deepEqual(await readErrors(), []);
});

test('ledgers that cannot be sealed do not block the sealing of others', async () => {
  const admins = await Promise.all(Array.from({ length: 8 }, () => service.createTenant()));
  const [sealable, ...others] = admins.map(({ tenantId }) => tenantId) as [string, ...string[]];
  await superuser.unsafe(`
    create function banyan.reject_seal() returns trigger language plpgsql as $$ begin raise exception 'rejected'; end $$;
    create trigger reject_seal before insert on banyan.seals for each row
      when (new.tenant_id in (${others.map((code) => `'${code}'`)})) execute function banyan.reject_seal()`);
  const countUnsealed = async (codes: string[]) =>
    (await superuser`select distinct tenant_id from banyan.unsealed_changes where tenant_id = any(${codes})`).count;
  await Promise.all(admins.map((admin) => admin.createDepartment()));
  await waitFor('the ledger that can be sealed is sealed', async () => (await countUnsealed([sealable])) === 0);
  assert.equal(await countUnsealed(others), others.length);
  const log: string[] = [];
  for (const code of others) {
    await waitFor(`the error of ledger ${code} is logged`, () => {
      log.push(...takeRecentLog());
      return log.some((line) => line.includes('could not be sealed') && line.includes(`"tenantId":"${code}"`));
    });
  }
  await superuser`drop trigger reject_seal on banyan.seals`;
  await waitFor('the other ledgers are sealed once they can be', async () => (await countUnsealed(others)) === 0);
  assert.deepEqual(await readErrors(), []);
});

test('verification finds and names rows that were altered, removed, inserted or swapped', async () => {
  const { tenantId, changes, id } = await createChanges();
  assert.deepEqual(await readErrors(), []);
  const [first, , third, fourth] = changes as [number, number, number, number];
  const errorsAfter = async (
    tamper: (change: number) => Promise<unknown>,
    change: number,
    undo: () => Promise<unknown>,
  ) => {
    await tamper(change);
    const errors = await readErrors();
    await undo();
    assert.deepEqual(await readErrors(), []);
    return errors;
  };
  const [row] = await superuser<[{ seq: number }]>`select seq from banyan.seals where change_id = ${third}`;
  const restore = async () => {
    await superuser`delete from banyan.changes where change_id = ${third}`;
    await superuser`insert into banyan.changes select * from saved_change`;
  };
  await superuser`create table saved_change as select * from banyan.changes where change_id = ${third}`;
  const changeName = `change ${third} at position ${row.seq}`;
  assert.deepEqual(
    await errorsAfter(
      (change) => superuser`update banyan.changes set actor_name = 'another' where change_id = ${change}`,
      third,
      restore,
    ),
    [`Tenant ${tenantId}: ${changeName} was altered or moved.`],
  );
  assert.deepEqual(
    await errorsAfter((change) => superuser`delete from banyan.changes where change_id = ${change}`, third, restore),
    [
      `Tenant ${tenantId}: ${changeName} is missing.`,
      `Tenant ${tenantId}: the first changes of department ${id} are missing.`,
    ],
  );
  const negate = () => superuser`
    update banyan.seals s set seq = -o.seq from banyan.seals o
    where s.tenant_id = ${tenantId} and o.tenant_id = ${tenantId}
      and (s.change_id, o.change_id) in ((${third}, ${fourth}), (${fourth}, ${third}))`;
  const settle = () => superuser`update banyan.seals set seq = -seq where tenant_id = ${tenantId} and seq < 0`;
  const swap = async () => {
    await negate();
    await settle();
  };
  const swapErrors = await errorsAfter(swap, third, swap);
  assert.match(swapErrors.join(), new RegExp(`change ${fourth} at position ${row.seq} was altered or moved`));
  const insertErrors = await errorsAfter(
    (change) => superuser`
      insert into banyan.changes select tenant_id, ${first} + 1000000, batch, time, actor_name, actor_user_id, actor_key_id, actor_tenant_id, address,
        request_id, resource, resource_id, action, parent_id, is_copy, before, after, before_hash, after_hash
      from banyan.changes where change_id = ${change}`,
    third,
    () => superuser`delete from banyan.changes where change_id = ${first} + 1000000`,
  );
  assert.deepEqual(insertErrors, [
    `Tenant ${tenantId}: change ${first + 1000000} has no seal: it was inserted, or its seal was removed.`,
    `Tenant ${tenantId}: department ${id} is not as its last change left it.`,
  ]);
  await superuser`delete from banyan.seals where tenant_id = ${tenantId} and seq > ${row.seq}`;
  assert.match((await readErrors()).join(), /are missing/);
  const { status, stderr } = verify();
  assert.equal(status, 1);
  assert.match(stderr, /are missing\.\n(.*\n)*.* changes in \d+ ledgers\. The ledger is damaged/);
  // Restore the head of the chain first: the service may continue from there as soon as a change is unsealed.
  await superuser`
    update banyan.seal_heads h set seq = s.seq, hash = s.hash from banyan.seals s
    where h.tenant_id = ${tenantId} and s.tenant_id = ${tenantId} and s.seq = ${row.seq}`;
  await superuser`
    insert into banyan.unsealed_changes select tenant_id, change_id from banyan.changes c where tenant_id = ${tenantId}
      and not exists (select from banyan.seals s where s.change_id = c.change_id and s.tenant_id = ${tenantId})`;
  await waitFor('the ledger verifies again', async () => (await readErrors()).length === 0);
  assert.match(verify().stderr, /The ledger is intact\./);
});

const verify = () =>
  spawnSync(process.execPath, [fileURLToPath(new URL('../../server/cli/verify-ledger.js', import.meta.url))], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DATABASE_URL: service.databaseUrl },
  });

test('old superseded changes move to the archive, and the chain verifies even after the archive is emptied', async () => {
  const { tenantId, id, changes, admin } = await createChanges();
  // Seals cover the times of changes. Seal the changes of all tenants again, as if some had been written ten days ago.
  await superuser.begin(async (tx) => {
    // Lock the tables in the order in which seal_changes uses them.
    await tx`lock table banyan.unsealed_changes, banyan.seal_heads`;
    await tx`update banyan.changes set time = time - interval '10 days' where change_id <= ${changes[4] as number}`;
    await tx`delete from banyan.seals`;
    await tx`delete from banyan.seal_heads`;
    await tx`insert into banyan.unsealed_changes select tenant_id, change_id from banyan.changes on conflict do nothing`;
  });
  // Only sealed changes are archived and verified. Changes of other tenants were sealed again too, and are counted below.
  const unsealed = async () => (await superuser`select from banyan.unsealed_changes limit 1`).length;
  await waitFor('all tenants are sealed', async () => (await unsealed()) === 0);
  const feed = async () => (await admin.get('/system/change-api?limit=100')).data.rows;
  const original = await feed();
  assert.deepEqual(await readErrors(), []);
  await archiveLedger(owner, 5);
  assert.deepEqual(await feed(), original, 'subscribers see the same changes');
  const left = await superuser<{ id: number; action: string }[]>`
    select change_id::int as id, action from banyan.changes
    where tenant_id = ${tenantId} and resource = 'department' and resource_id = ${id} order by 1`;
  // The last change before the cutoff stays, because it describes the state at the cutoff. So does the one that set the parent.
  assert.deepEqual(
    left.map((row) => row.id),
    [changes[2], changes[4], changes[5]],
  );
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const archived = await admin.get(`${dept}/${id}?asOf=${daysAgo(8)}`);
  assert.equal(archived.data.reason, 'HISTORY_NOT_KEPT', archived.text);
  const past = await admin.get(`${dept}/0/children?asOf=${daysAgo(4)}`);
  assert.deepEqual(
    past.data.rows.map(({ deptId }: { deptId: number }) => String(deptId)),
    [id],
  );
  const { changes: count, removed, errors } = await verifyLedger(owner, { ledgerDays: 5 });
  assert.deepEqual([errors, removed], [[], 0]);
  // After BANYAN_LEDGER_DAYS was raised, what had been archived before is still intact.
  for (const ledgerDays of ['keep', 400] as const)
    assert.deepEqual((await verifyLedger(owner, { ledgerDays })).errors, []);
  await superuser`truncate banyan.changes_archive, banyan.tenant_versions_archive`;
  const emptied = await verifyLedger(owner, { ledgerDays: 5 });
  assert.deepEqual(emptied.errors, []);
  for (const ledgerDays of ['keep', 400] as const) {
    const kept = await verifyLedger(owner, { ledgerDays });
    const archived = kept.errors.filter((error) =>
      error.includes('was archived, although BANYAN_LEDGER_DAYS keeps it'),
    );
    assert.equal(archived.length, emptied.removed);
  }
  assert.ok(emptied.removed > 0);
  const after = await feed();
  assert.ok(after.length < original.length);
  assert.deepEqual(after.at(-1), original.at(-1));
  assert.equal(emptied.changes, count - emptied.removed);
  assert.equal(await archiveLedger(owner, 5), 0);
});
