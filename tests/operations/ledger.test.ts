import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { archiveLedger, verifyLedger } from '../../db/ledger.ts';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The ledger as its keeper sees it: a chain that shows what was done to it, and an archive. */

const service = await startService({}, { timing: { sealMs: 100 } });
const { superuser, owner } = service;
const dept = '/system/dept-api';

/** Some changes of a tenant of its own, sealed. */
async function written() {
  const boss = await service.createTenant();
  const id = await boss.createDepartment({ deptName: '总部' });
  for (const deptName of ['一', '二', '三']) await boss.put(dept, { deptId: id, deptName });
  const { data } = await boss.get('/system/change-api?limit=100');
  const places: number[] = data.rows.map((row: { id: number }) => row.id);
  return { boss, tenantId: boss.tenantId, id, changes: places };
}

const faultsOf = async () => (await verifyLedger(owner)).faults;

test("the service's role can neither alter nor delete what is in the ledger", async () => {
  const rights = await superuser<{ table: string; right: string }[]>`
    select t as table, r as right from service_login, unnest(array['changes', 'seals', 'changes_archive']) t,
      unnest(array['update', 'delete', 'truncate', 'references', 'trigger']) r
    where has_table_privilege(role, 'banyan.' || t, r)
      or (r = 'update' and has_any_column_privilege(role, 'banyan.' || t, r))`;
  assert.deepEqual([...rights], []);
});

test('what nobody follows is sealed within seconds', async () => {
  const boss = await service.createTenant();
  await boss.createDepartment();
  await waitFor('sealed', async () => {
    const [{ left }] = await superuser<[{ left: number }]>`
      select count(*)::int as left from banyan.unsealed where tenant_id = ${boss.tenantId}`;
    return left === 0;
  });
  assert.deepEqual(await faultsOf(), []);
});

test('ledgers that cannot be sealed keep no other from it', async () => {
  const bosses = await Promise.all(Array.from({ length: 8 }, () => service.createTenant()));
  const [last, ...others] = bosses.map(({ tenantId }) => tenantId) as [string, ...string[]];
  await superuser.unsafe(`
    create function banyan.cannot() returns trigger language plpgsql as $$ begin raise exception 'cannot'; end $$;
    create trigger cannot before insert on banyan.seals for each row
      when (new.tenant_id in (${others.map((code) => `'${code}'`)})) execute function banyan.cannot()`);
  const leftOf = async (codes: string[]) =>
    (await superuser`select distinct tenant_id from banyan.unsealed where tenant_id = any(${codes})`).count;
  await Promise.all(bosses.map((boss) => boss.createDepartment()));
  await waitFor('it is sealed', async () => (await leftOf([last])) === 0);
  assert.equal(await leftOf(others), others.length);
  await superuser`drop trigger cannot on banyan.seals`;
  await waitFor('so are the others, when they can be', async () => (await leftOf(others)) === 0);
  assert.deepEqual(await faultsOf(), []);
});

test('a row that was altered, taken out, put in or exchanged is found, and named', async () => {
  const { tenantId, changes } = await written();
  assert.deepEqual(await faultsOf(), []);
  const [first, , third, fourth] = changes as [number, number, number, number];
  const at = async (work: (change: number) => Promise<unknown>, change: number, back: () => Promise<unknown>) => {
    await work(change);
    const faults = await faultsOf();
    await back();
    assert.deepEqual(await faultsOf(), []);
    return faults;
  };
  const [row] = await superuser<[{ row: never; seq: number; hash: Buffer }]>`
    select to_jsonb(c) as row, s.seq, s.hash from banyan.changes c join banyan.seals s using (tenant_id, change_id)
    where change_id = ${third}`;
  const restore = async () => {
    await superuser`delete from banyan.changes where change_id = ${third}`;
    // As text: jsonb would not keep the order within the records.
    await superuser`insert into banyan.changes select * from kept`;
  };
  await superuser`create table kept as select * from banyan.changes where change_id = ${third}`;
  const place = `change ${third}, at place ${row.seq}`;
  assert.deepEqual(
    await at((id) => superuser`update banyan.changes set by_name = 'another' where change_id = ${id}`, third, restore),
    [`Tenant ${tenantId}: ${place}, was altered or put elsewhere.`],
  );
  assert.deepEqual(await at((id) => superuser`delete from banyan.changes where change_id = ${id}`, third, restore), [
    `Tenant ${tenantId}: ${place}, is missing.`,
  ]);
  const exchange = () => superuser`
    update banyan.seals s set seq = -o.seq from banyan.seals o
    where s.tenant_id = ${tenantId} and o.tenant_id = ${tenantId}
      and (s.change_id, o.change_id) in ((${third}, ${fourth}), (${fourth}, ${third}))`;
  const settle = () => superuser`update banyan.seals set seq = -seq where tenant_id = ${tenantId} and seq < 0`;
  const turn = async () => {
    await exchange();
    await settle();
  };
  const exchanged = await at(turn, third, turn);
  assert.match(exchanged.join(), new RegExp(`change ${fourth}, at place ${row.seq}, was altered or put elsewhere`));
  const loose = await at(
    (id) => superuser`
      insert into banyan.changes select tenant_id, ${first} + 1000000, batch, time, by_name, by_user, by_tenant, address,
        request_id, resource, resource_id, action, parent_id, copy, before, after
      from banyan.changes where change_id = ${id}`,
    third,
    () => superuser`delete from banyan.changes where change_id = ${first} + 1000000`,
  );
  assert.deepEqual(loose, [
    `Tenant ${tenantId}: change ${first + 1000000} has no seal: it was put in, or its seal taken out.`,
  ]);
  await superuser`delete from banyan.seals where tenant_id = ${tenantId} and seq > ${row.seq}`;
  assert.match((await faultsOf()).join(), /the last ones, are missing/);
  const { status, stderr } = verify();
  assert.equal(status, 1);
  assert.match(stderr, /the last ones, are missing\.\n(.*\n)*.* changes in \d+ ledgers\. The ledger is not whole/);
  // The end of the chain first: as soon as something waits, the service may go on from there.
  await superuser`
    update banyan.seal_heads h set seq = s.seq, hash = s.hash from banyan.seals s
    where h.tenant_id = ${tenantId} and s.tenant_id = ${tenantId} and s.seq = ${row.seq}`;
  await superuser`
    insert into banyan.unsealed select tenant_id, change_id from banyan.changes c where tenant_id = ${tenantId}
      and not exists (select from banyan.seals s where s.change_id = c.change_id and s.tenant_id = ${tenantId})`;
  await waitFor('whole again', async () => (await faultsOf()).length === 0);
  assert.match(verify().stderr, /The ledger is whole\./);
});

const verify = () =>
  spawnSync(process.execPath, [fileURLToPath(new URL('../../server/verify-ledger.js', import.meta.url))], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DATABASE_URL: service.databaseUrl },
  });

test('the archive takes what is old and followed; the chain stays whole, also when it is emptied', async () => {
  const { tenantId, id, changes, boss } = await written();
  await superuser`
    update banyan.changes set time = time - interval '10 days' where tenant_id = ${tenantId} and change_id <= ${changes[4] as number}`;
  // Times are part of what is sealed: seal them anew, as if they had been written then.
  await superuser`delete from banyan.seals where tenant_id = ${tenantId}`;
  await superuser`delete from banyan.seal_heads where tenant_id = ${tenantId}`;
  await superuser`insert into banyan.unsealed select tenant_id, change_id from banyan.changes where tenant_id = ${tenantId}`;
  const feed = async () => (await boss.get('/system/change-api?limit=100')).data.rows;
  const told = await feed();
  assert.deepEqual(await faultsOf(), []);
  await archiveLedger(owner, 5);
  assert.deepEqual(await feed(), told, 'who follows is told the same');
  const left = await superuser<{ id: number; action: string }[]>`
    select change_id::int as id, action from banyan.changes
    where tenant_id = ${tenantId} and resource = 'department' and resource_id = ${id} order by 1`;
  // The last one of those days stays: it says how things were when they ended. So does what brought it to its place.
  assert.deepEqual(
    left.map((row) => row.id),
    [changes[2], changes[4], changes[5]],
  );
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const gone8 = await boss.get(`${dept}/${id}?asOf=${daysAgo(8)}`);
  assert.equal(gone8.data.reason, 'HISTORY_NOT_KEPT', gone8.text);
  const past = await boss.get(`${dept}/0/children?asOf=${daysAgo(4)}`);
  assert.deepEqual(
    past.data.rows.map(({ deptId }: { deptId: number }) => String(deptId)),
    [id],
  );
  // Those of other tenants too, which are counted below.
  const unsealed = async () => (await superuser`select from banyan.unsealed limit 1`).length;
  await waitFor('all is sealed', async () => (await unsealed()) === 0);
  const { changes: whole, gone, faults } = await verifyLedger(owner);
  assert.deepEqual([faults, gone], [[], 0]);
  await superuser`truncate banyan.changes_archive`;
  const emptied = await verifyLedger(owner);
  assert.deepEqual(emptied.faults, []);
  assert.ok(emptied.gone > 0);
  const after = await feed();
  assert.ok(after.length < told.length);
  assert.deepEqual(after.at(-1), told.at(-1));
  assert.equal(emptied.changes, whole - emptied.gone);
  assert.equal(await archiveLedger(owner, 5), 0);
});
