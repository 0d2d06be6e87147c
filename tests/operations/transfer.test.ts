import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Sql } from '../../db/driver.ts';
import { importTables } from '../../db/transfer.ts';
import { verifyLedger } from '../../server/ledger/verify.ts';
import { afterFile } from '../support/cleanup.ts';
import { connectWithoutDeadline, createDatabase } from '../support/database.ts';
import { scale } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { runTransfer as run } from './transfer-command.ts';
import { createData, DEPT, readAll } from './transfer-data.ts';

/** All data leaves one installation with `npm run export`, and arrives in another with `npm run import`. */

const NO_BACKGROUND_WORK = { sealMs: 600_000, webhookPollMs: 600_000 };
const first = await startService({}, { timing: NO_BACKGROUND_WORK });
const second = await startService({}, { timing: NO_BACKGROUND_WORK });
const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-transfer-'));
afterFile(() => fs.rmSync(parent, { recursive: true }));
const folder = path.join(parent, 'export');

const { upper, lower, beside } = await createData(first);
const { data: key } = await upper.post('/system/key-api', { keyName: 'used', permissions: ['dept:read', 'user:read'] });
const admins = [first.root, upper, lower, beside].slice(0, scale(2, 4));
const before: Record<string, unknown>[] = [];
for (const admin of admins) before.push(await readAll(admin));
const exported = run('export', first.databaseUrl, '--to', folder);
assert.equal(exported.status, 0, exported.stderr);

test('everything that can be read is the same after an export and an import into an empty database', async () => {
  assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
  const imported = run('import', second.databaseUrl, '--from', folder);
  assert.equal(imported.status, 0, imported.stderr);

  const names = ['admin', 'boss', 'boss', 'boss'];
  for (const [n, admin] of admins.entries()) {
    const again = await second.logIn(admin.tenantId || '000000', names[n] as string);
    assert.deepEqual(await readAll(again), before[n]);
  }
  // The key works, the references and triggers are as before, and new ids do not repeat old ones.
  assert.equal(
    (await second.anonymous.get(`${DEPT}/list`, { headers: { authorization: `Bearer ${key.key}` } })).status,
    200,
  );
  const again = await second.logIn(upper.tenantId, 'boss');
  const id = await again.createDepartment({ deptName: 'new' });
  const { data } = await again.get('/system/change-api/list?limit=1');
  assert.deepEqual([data.rows[0].action, String(data.rows[0].resourceId)], ['created', id]);
  const constraints = (sql: typeof first.superuser) => sql`
    select conname, condeferrable, condeferred from pg_constraint where connamespace = 'banyan'::regnamespace
    order by conrelid::regclass::text, conname`;
  assert.deepEqual([...(await constraints(second.superuser))], [...(await constraints(first.superuser))]);
  assert.deepEqual((await verifyLedger(second.owner)).errors, []);
});

test('an import rejects a database with data and a file that was altered, without changing anything', async () => {
  const load = (sql: Sql) => importTables(sql, folder, () => {});
  // Deleted departments count too.
  await assert.rejects(load(first.owner), /The database is not empty: it has 4 tenants besides 000000, 15 departments/);
  const file = path.join(folder, 'departments.ndjson');
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replace('总部 2', '总部 3'));
  const owner = connectWithoutDeadline({ url: (await createDatabase()).databaseUrl });
  await assert.rejects(load(owner), /departments\.ndjson differs from what was exported/);
  fs.writeFileSync(file, text);
  assert.equal((await owner`select from banyan.tenants`).length, 1);
  await owner.end();
});
