import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { StartupError } from '../../db/startup-error.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { assertStopped, usedDataFolder } from '../support/process.ts';

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
