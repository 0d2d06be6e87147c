import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectOwner } from '../../db/sql.ts';
import { makeDatabase } from '../harness.ts';
import { newFolder, start } from '../process.ts';
import { report } from '../scale.ts';
import { until } from '../waiting.ts';

test('a migration killed halfway: the next start completes it, and what was there is still there', async (t) => {
  const { databaseUrl, superuserUrl } = await makeDatabase();
  const superuser = connectOwner({ url: superuserUrl });
  const first = start(newFolder(), { DATABASE_URL: databaseUrl });
  const id = await (await first.admin()).dept({ deptName: 'from before' });
  assert.equal(await first.stop(), 0, first.stderr);
  const applied = () => superuser`select version, name, checksum from banyan.migrations order by version`;
  const all = [...(await applied())];
  const isThere = async () => {
    const [row] = await superuser<[{ there: boolean }]>`
      select to_regclass('banyan.idempotency_keys') is not null as there`;
    return row.there;
  };
  // As the version before the second migration left it.
  await superuser`drop table banyan.idempotency_keys`;
  await superuser`delete from banyan.migrations where version > 1`;

  // Its last step, the note that it ran, has to wait for us: by then the table is made, and not yet committed.
  await superuser`begin`;
  await superuser`lock table banyan.migrations in share mode`;
  const run = start(newFolder(), { DATABASE_URL: databaseUrl });
  const waits = async () => {
    const [row] = await superuser<[{ count: number }]>`
      select count(*) from pg_locks where not granted and relation = 'banyan.migrations'::regclass`;
    return row.count > 0;
  };
  await until(waits, 'the migration waits');
  await run.kill('SIGKILL');
  await superuser`commit`;
  assert.match(run.stderr, /Preparing tables: 0002_/);

  const next = start(newFolder(), { DATABASE_URL: databaseUrl });
  const admin = await next.admin();
  assert.match(next.stderr, /Preparing tables: 0002_/, 'nothing of it had been kept');
  assert.deepEqual([...(await applied())], all);
  assert.ok(await isThere());
  assert.equal((await admin.get(`/system/dept-api/${id}`)).data.deptName, 'from before');
  await admin.dept();
  report(t, { migrations: all.length });
  assert.equal(await next.stop(), 0, next.stderr);
  await superuser.end();
});
