// Only with test:long: it kills two processes of the command; import-ruoyi.test.ts runs it again after changes, and twice at the same moment.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { afterFile } from '../support/cleanup.ts';
import { connectWithoutDeadline, createDatabase } from '../support/database.ts';
import { launch, project } from '../support/process.ts';
import { fillRuoyi } from '../support/ruoyi.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';
import { createPostgres, generated, importerOf } from './ruoyi-import.ts';

const { run, reports } = importerOf('');
const ruoyi = await createPostgres();
afterFile(() => ruoyi.close());
const data = generated('id');
await fillRuoyi(ruoyi, data.rows, 'id');

test('a run that is killed is continued by the next one', async () => {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const sql = connectWithoutDeadline({ url: superuserUrl });
  const folder = path.join(reports, 'killed');
  const command = path.join(project, 'dist/server/cli/import-ruoyi.js');
  const start = () =>
    launch([command, '--from', ruoyi.url, '--report', folder], { cwd: reports, env: { DATABASE_URL: databaseUrl } });
  try {
    // Stop it once when it creates the users of the first tenant, whose departments are committed.
    const lock = await sql.reserve();
    await lock`begin`;
    await lock`lock table banyan.users in share mode`;
    const killed = start();
    const other = connectWithoutDeadline({ url: superuserUrl });
    await waitFor('the import waits for the lock', async () => {
      assert.equal(killed.child.exitCode, null, killed.stderr);
      return countLockWaits(other);
    });
    assert.equal(await killed.kill('SIGKILL'), 'SIGKILL');
    await lock`rollback`;
    lock.release();
    await other.end();
    const [partial] = await sql`
      select (select count(*) from banyan.departments) as departments, (select count(*) from banyan.users) as users`;
    assert.ok(partial?.departments > 0 && partial?.departments < data.departments, JSON.stringify(partial));
    assert.equal(partial?.users, 1);
    // And once between tenants: the departments of the second one wait for this lock.
    const [first] = await sql<[{ tenantId: string }]>`select tenant_id as "tenantId" from banyan.departments limit 1`;
    await sql.unsafe(`
      create function public.wait() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
      create trigger wait before insert on banyan.departments for each row
        when (new.tenant_id <> '${first.tenantId}') execute function public.wait()`);
    await sql`select pg_advisory_lock(1)`;
    const second = start();
    await waitFor('the import waits for the lock', async () => {
      assert.equal(second.child.exitCode, null, second.stderr);
      return countLockWaits(sql);
    });
    assert.match(second.stderr, /\[1\//);
    assert.equal(await second.kill('SIGKILL'), 'SIGKILL');
    await sql`select pg_advisory_unlock(1)`;
    await sql`drop function public.wait() cascade`;
    const { status, output, report } = await run(ruoyi, [], databaseUrl);
    assert.equal(status, 0, output);
    const { totals } = report();
    assert.equal(totals.unexplained, 0);
    assert.equal(totals.matching, totals.departments.planned + totals.users.planned);
    const [complete] = await sql`
      select (select count(*) from banyan.departments) as departments, (select count(*) from banyan.users) as users`;
    assert.deepEqual([complete?.departments, complete?.users], [totals.departments.planned, totals.users.planned + 1]);
  } finally {
    await sql.end({ timeout: 1 });
  }
});
