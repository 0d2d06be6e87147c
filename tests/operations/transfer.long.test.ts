// Only with test:long: it runs seven commands as processes; transfer.test.ts exports and imports once, and rejects databases and files in-process.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import { afterFile } from '../support/cleanup.ts';
import { createEmptyDatabase, startService } from '../support/service.ts';
import { runTransfer as run } from './transfer-command.ts';
import { createData, readAll } from './transfer-data.ts';

const timing = { sealMs: 600_000, webhookPollMs: 600_000 };
const [first, second] = [await startService({}, { timing }), await startService({}, { timing })];
const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-transfer-'));
afterFile(() => fs.rmSync(parent, { recursive: true }));
const folder = path.join(parent, 'export');
const { upper } = await createData(first);

before(() => {
  const { status, stderr } = run('export', first.databaseUrl, '--to', folder);
  assert.equal(status, 0, stderr);
});

test('an import into a database with data changes nothing', async () => {
  const before = await readAll(upper);
  const { status, stderr } = run('import', first.databaseUrl, '--from', folder);
  assert.equal(status, 2);
  // Deleted departments count too.
  assert.match(stderr, /The database is not empty: it has 4 tenants besides 000000, 15 departments/);
  assert.deepEqual(await readAll(upper), before);
});

test('an import prepares a new database, and rejects a file that was altered', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const file = path.join(folder, 'departments.ndjson');
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replace('总部 2', '总部 3'));
  const altered = run('import', databaseUrl, '--from', folder);
  assert.equal(altered.status, 2);
  assert.match(altered.stderr, /departments\.ndjson differs from what was exported/);
  fs.writeFileSync(file, text);
  const imported = run('import', databaseUrl, '--from', folder);
  assert.equal(imported.status, 0, imported.stderr);
  assert.match(imported.stderr, /\d+ rows were imported/);
});

test('a missing argument, an existing target folder and a folder without an export fail with a message that says so', () => {
  assert.match(run('export', first.databaseUrl).stderr, /npm run export -- --to folder/);
  const existing = run('export', first.databaseUrl, '--to', parent);
  assert.deepEqual([existing.status, /already exists/.test(existing.stderr)], [2, true]);
  const { status, stderr } = run('import', second.databaseUrl, '--from', parent);
  assert.equal(status, 2);
  assert.match(stderr, /There is no export in/);
});
