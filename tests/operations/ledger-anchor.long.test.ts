// Only with test:long: it runs the command twice; ledger-verification.test.ts signs, parses and compares anchors, and ledger.test.ts runs the command.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { afterFile } from '../support/cleanup.ts';
import { CHANGES } from '../support/expect.ts';
import { startService } from '../support/service.ts';

/** Anchors on the command line: the ends of the hash chains, to be kept elsewhere. */

const service = await startService();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-anchor-'));
afterFile(() => fs.rmSync(folder, { recursive: true }));
const command = fileURLToPath(new URL('../../server/cli/verify-ledger.js', import.meta.url));
const run = (...args: string[]) =>
  spawnSync(process.execPath, [command, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DATABASE_URL: service.databaseUrl },
  });

test('an anchor is printed with a signature, and the ledger is compared with it later', async () => {
  const admin = await service.createTenant();
  await admin.get(CHANGES);
  const { privateKey } = generateKeyPairSync('ed25519');
  const [key, file] = [path.join(folder, 'key.pem'), path.join(folder, 'anchor.json')];
  fs.writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const printed = run('--anchor', '--key', key);
  assert.equal(printed.status, 0, printed.stderr);
  const { heads, signature } = JSON.parse(printed.stdout);
  assert.ok(signature);
  const [head] = await service.superuser`
    select seq, encode(hash, 'hex') as hash from banyan.seal_heads where tenant_id = ${admin.tenantId}`;
  assert.deepEqual(
    heads.find(({ tenantId }: { tenantId: string }) => tenantId === admin.tenantId),
    { tenantId: admin.tenantId, ...head },
  );
  // npm prints a banner unless it is called with --silent.
  fs.writeFileSync(file, `\n> banyan@0.1.0 verify-ledger\n\n${printed.stdout}`);
  await admin.createDepartment();
  const compared = run('--compare', file, '--key', key);
  assert.equal(compared.status, 0, compared.stderr);
  assert.match(compared.stderr, /compared with the anchor of .* The ledger is intact/);
});
