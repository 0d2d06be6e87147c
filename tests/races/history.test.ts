import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../db/sql.ts';
import { chance, firstSeed, report, scale, together } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

const service = await startService();
const { superuser, owner } = service;
const dept = '/system/dept-api';

const clock = async (): Promise<string> => {
  const [{ time }] = await superuser<[{ time: string }]>`
    select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time`;
  return time;
};

test('a moment before which somebody has written and not committed is told when he has', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment({ deptName: 'before' });
  // Whoever changes a department waits at his commit.
  await owner.unsafe(`
    create function banyan.wait_at_commit() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
    create constraint trigger wait_at_commit after update on banyan.departments
      deferrable initially deferred for each row execute function banyan.wait_at_commit();`);
  await superuser`select pg_advisory_lock(4711)`;
  let released = false;
  try {
    const writing = boss.put(dept, { deptId: id, deptName: 'after' });
    await waitFor('the writer waits at his commit', async () => (await countWaiting(superuser)) > 0);
    const time = await clock();
    const asked = [`${id}?`, '0/children?', 'tree?', 'list?', `diff?from=2020-01-01&to=${time}&`].map(async (path) => {
      const { text } = await boss.get(`${dept}/${path}asOf=${time}`);
      assert.ok(released, `${path} was told too early`);
      return text;
    });
    // What was before he began needs not wait for him.
    const [{ earlier }] = await superuser<[{ earlier: string }]>`
      select to_char((min(xact_start) - interval '1 microsecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        as earlier
      from pg_stat_activity where datname = current_database() and backend_xid is not null`;
    assert.equal((await boss.get(`${dept}/${id}?asOf=${earlier}`)).data.deptName, 'before');
    released = true;
    await superuser`select pg_advisory_unlock(4711)`;
    for (const text of await Promise.all(asked)) assert.match(text, /after/);
    assert.equal((await writing).code, 200);
  } finally {
    await superuser`select pg_advisory_unlock_all()`;
    await owner.unsafe('drop trigger wait_at_commit on banyan.departments; drop function banyan.wait_at_commit()');
  }
});

test('what was stays what it was, however many write meanwhile', async (t) => {
  const boss = await service.createTenant();
  const made: string[] = [];
  for (let n = 0; n < 15; n++)
    made.push(await boss.createDepartment({ parentId: n % 3 ? made[n - 1] : 0, deptName: `d${n}` }));
  const { below, pick } = chance(firstSeed);
  let writing = true;
  const write = async (client: Client) => {
    while (writing) {
      const deptId = pick(made);
      await pick([
        () => client.put(dept, { deptId, deptName: `n${below(100)}`, orderNum: below(5) }),
        () => client.put(dept, { deptId, deptName: 'moved', parentId: pick(['0', ...made]) }),
        () => client.post(dept, { parentId: deptId, deptName: 'new' }),
        () => client.delete(`${dept}/${deptId}?subtree=${below(10) === 0}`),
      ])();
    }
  };
  const writers = [1, 2, 3, 4].map(() => write(boss));
  const first: { path: string; text: string }[] = [];
  await together(3, scale(24, 600), async () => {
    const time = await clock();
    const path = `${dept}/${pick(['tree?', 'list?pageSize=500&', '0/children?', `${pick(made)}?`])}asOf=${time}`;
    first.push({ path, text: (await boss.get(path)).text });
  });
  for (const { path, text } of first) assert.equal((await boss.get(path)).text, text, path);
  writing = false;
  await Promise.all(writers);
  // Nobody's parent was away at any of these moments: the tree shows all that the list has.
  for (const { path } of first.filter((answer) => answer.path.includes('tree?'))) {
    const tree = (await boss.get(path)).text.match(/"deptId":/g)?.length;
    const { data } = await boss.get(path.replace('tree?', 'list?'));
    assert.equal(tree, data.total, path);
  }
  report(t, { asked: first.length });
});

test('a tree that is too large to be held in memory is told as it was', async () => {
  const boss = await service.createTenant();
  const count = scale(21_000, 100_000);
  /** Writes without leaving the changes to be sealed in the background, which takes longer than all the rest. */
  const unsealed = (write: (tx: Tx) => Promise<unknown>) =>
    superuser.begin(async (tx) => {
      await write(tx);
      await tx`delete from banyan.unsealed where tenant_id = ${boss.tenantId}`;
    });
  // The planner knows of none of it: it looked when there was next to nothing, and looks no more.
  await superuser`alter table banyan.changes set (autovacuum_enabled = off)`;
  await superuser`analyze banyan.changes`;
  await unsealed(
    (tx) => tx`
      insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, order_num, create_by)
      select ${boss.tenantId}, 60000000 + n, case when n >= 10 then 60000000 + n / 10 - 1 end, 'd' || n, n % 7, 'sql'
      from generate_series(0, ${count}::int - 1) n`,
  );
  const paths = ['tree?', 'tree?depth=4&', 'tree?rootId=60000001&', 'tree?rootId=60000001&depth=3&'];
  const then = [];
  for (const path of paths) then.push((await boss.get(`${dept}/${path}`)).text);
  const time = await clock();
  await unsealed(
    (tx) => tx`
      update banyan.departments set dept_name = 'changed', order_num = 0, parent_id = null
      where tenant_id = ${boss.tenantId} and dept_id % 7 = 0`,
  );
  for (const [n, path] of paths.entries()) {
    const { text } = await boss.get(`${dept}/${path}asOf=${time}`);
    assert.ok(text === then[n], `${path}: ${text.slice(0, 200)} instead of ${then[n]?.slice(0, 200)}`);
  }
  assert.equal((await boss.get(`${dept}/tree?rootId=50000000&asOf=${time}`)).status, 404);
});
