import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../db/driver.ts';
import { databaseTime } from '../support/expect.ts';
import { firstSeed, report, runConcurrently, scale, seededRandom } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';
import { dropSearchIndexes } from '../support/trees.ts';
import { waitFor } from '../support/wait.ts';

const service = await startService();
const { superuser, owner } = service;
const dept = '/system/dept-api';

test('a read as of a moment waits for earlier writers that have not committed', async () => {
  const admin = await service.createTenant();
  const id = await admin.createDepartment({ deptName: 'before' });
  // The trigger makes each transaction that updates a department wait at its commit.
  await owner.unsafe(`
    create function banyan.wait_at_commit() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
    create constraint trigger wait_at_commit after update on banyan.departments
      deferrable initially deferred for each row execute function banyan.wait_at_commit();`);
  await superuser`select pg_advisory_lock(4711)`;
  let released = false;
  try {
    const write = admin.put(dept, { deptId: id, deptName: 'after' });
    // Background work such as sealing may wait for other locks.
    const waits = () => superuser`
      select from pg_locks where not granted and locktype = 'advisory' and objid = 4711
        and database = (select oid from pg_database where datname = current_database())`;
    await waitFor('the writer waits at its commit', async () => (await waits()).length > 0);
    const time = await databaseTime(service);
    const reads = [`${id}?asOf=`, '0/children?asOf=', 'tree?asOf=', 'list?asOf=', 'diff?from=2020-01-01&to='].map(
      async (path) => {
        const { text } = await admin.get(`${dept}/${path}${time}`);
        assert.ok(released, `${path} was answered before the writer committed`);
        return text;
      },
    );
    // A read as of a moment before the writer's transaction began does not wait.
    const [{ earlier }] = await superuser<[{ earlier: string }]>`
      select to_char((min(xact_start) - interval '1 microsecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        as earlier
      from pg_stat_activity where datname = current_database() and backend_xid is not null`;
    assert.equal((await admin.get(`${dept}/${id}?asOf=${earlier}`)).data.deptName, 'before');
    released = true;
    await superuser`select pg_advisory_unlock(4711)`;
    for (const text of await Promise.all(reads)) assert.match(text, /after/);
    assert.equal((await write).code, 200);
  } finally {
    await superuser`select pg_advisory_unlock_all()`;
    await owner.unsafe('drop trigger wait_at_commit on banyan.departments; drop function banyan.wait_at_commit()');
  }
});

test('repeated reads as of one moment are equal during concurrent writes', async (t) => {
  const admin = await service.createTenant();
  const ids: string[] = [];
  for (let n = 0; n < 15; n++)
    ids.push(await admin.createDepartment({ parentId: n % 3 ? ids[n - 1] : 0, deptName: `d${n}` }));
  const { below, pick } = seededRandom(firstSeed);
  let writing = true;
  const write = async (client: Client) => {
    while (writing) {
      const deptId = pick(ids);
      await pick([
        () => client.put(dept, { deptId, deptName: `n${below(100)}`, orderNum: below(5) }),
        () => client.put(dept, { deptId, deptName: 'moved', parentId: pick(['0', ...ids]) }),
        () => client.post(dept, { parentId: deptId, deptName: 'new' }),
        () => client.delete(`${dept}/${deptId}?subtree=${below(10) === 0}`),
      ])();
    }
  };
  const writers = [1, 2, 3, 4].map(() => write(admin));
  const first: { path: string; text: string }[] = [];
  await runConcurrently(3, scale(12, 400), async () => {
    const time = await databaseTime(service);
    const path = `${dept}/${pick(['tree?', 'list?pageSize=500&', '0/children?', `${pick(ids)}?`])}asOf=${time}`;
    first.push({ path, text: (await admin.get(path)).text });
  });
  for (const { path, text } of first) assert.equal((await admin.get(path)).text, text, path);
  writing = false;
  await Promise.all(writers);
  // At each of these moments every department had its parent: the tree shows as many departments as the list.
  for (const { path } of first.filter(({ path }) => path.includes('tree?'))) {
    const nodes = (await admin.get(path)).text.match(/"deptId":/g) ?? [];
    const { data } = await admin.get(path.replace('tree?', 'list?'));
    assert.equal(nodes.length, data.total, path);
  }
  report(t, { reads: first.length });
});

test('a tree that is too large to be built in memory is returned as of a past moment', async () => {
  const admin = await service.createTenant();
  const count = scale(10_100, 100_000);
  await dropSearchIndexes(superuser);
  /** Writes, and removes the changes of these writes from the sealing queue: sealing them would take longer than the test. */
  const unsealed = (write: (tx: Tx) => Promise<unknown>) =>
    superuser.begin(async (tx) => {
      await write(tx);
      await tx`delete from banyan.unsealed_changes where tenant_id = ${admin.tenantId}`;
    });
  // Leave the planner with the statistics of an almost empty table: the query must be fast even when they are outdated.
  await superuser`alter table banyan.changes set (autovacuum_enabled = off)`;
  await superuser`analyze banyan.changes`;
  await unsealed(
    (tx) => tx`
      insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, order_num, create_by)
      select ${admin.tenantId}, 60000000 + n, case when n >= 10 then 60000000 + n / 10 - 1 end, 'd' || n, n % 7, 'sql'
      from generate_series(0, ${count}::int - 1) n`,
  );
  const all = ['tree?', 'tree?depth=4&', 'tree?rootId=60000001&', 'tree?rootId=60000001&depth=3&'];
  const paths = all.slice(0, scale(1, 4));
  const expected = [];
  for (const path of paths) expected.push((await admin.get(`${dept}/${path}`)).text);
  const time = await databaseTime(service);
  await unsealed(
    (tx) => tx`
      update banyan.departments set dept_name = 'changed', order_num = 0, parent_id = null
      where tenant_id = ${admin.tenantId} and dept_id % 7 = 0`,
  );
  for (const [n, path] of paths.entries()) {
    const { text } = await admin.get(`${dept}/${path}asOf=${time}`);
    assert.ok(text === expected[n], `${path}: ${text.slice(0, 200)} instead of ${expected[n]?.slice(0, 200)}`);
  }
  assert.equal((await admin.get(`${dept}/tree?rootId=50000000&asOf=${time}`)).status, 404);
});
