import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase, withEmbedded } from '../../db/connect.ts';
import { StartupError } from '../../db/startup-error.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { assertStopped, postgresOf, startWithoutDeadlines, usedDataFolder } from '../support/process.ts';

test('a second service on the same data folder fails, and the first one keeps its database', async () => {
  const dataDir = await usedDataFolder();
  const open = () => openDatabase({ dataDir, timeZone: 'UTC', timing: NO_DEADLINES });
  const first = await open();
  await assert.rejects(open(), (error: Error) => {
    assert.ok(error instanceof StartupError, String(error));
    assert.ok(
      error.message.startsWith(`Another Banyan (process ${process.pid}) is using the data directory ${dataDir}.`),
    );
    assert.match(error.message, /set BANYAN_DATA_DIR and PORT/);
    return true;
  });
  assert.equal((await first.use((sql) => sql`select 1`)).length, 1);
  await first.close();
  await assertStopped(dataDir);
  await (await open()).close();
});

test('a command that has started PostgreSQL does not stop it while a service uses it', async () => {
  const dataDir = await usedDataFolder();
  const { run, pid } = await withEmbedded({ dataDir }, async () => {
    const run = startWithoutDeadlines(dataDir);
    await run.ready();
    return { run, pid: postgresOf(dataDir).pid };
  });
  assert.equal(postgresOf(dataDir).pid, pid);
  await (await run.admin()).createDepartment();
  assert.doesNotMatch(run.stderr, /PostgreSQL has stopped/);
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
  // No service uses the PostgreSQL that the next command starts, so the command stops it.
  await withEmbedded({ dataDir }, async ({ adopted }) => assert.equal(adopted, false));
  await assertStopped(dataDir);
});
