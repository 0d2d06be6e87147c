// Only with test:long: it runs the command six times; ledger.test.ts runs it on a damaged ledger, and ledger-verification.test.ts checks anchors in-process.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createAnchor } from '../../server/ledger/anchor.ts';
import { afterFile } from '../support/cleanup.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-anchor-'));
afterFile(() => fs.rmSync(folder, { recursive: true }));
const fileOf = (name: string, content: string) => {
  fs.writeFileSync(path.join(folder, name), content);
  return path.join(folder, name);
};
const command = fileURLToPath(new URL('../../server/cli/verify-ledger.js', import.meta.url));
const run = (...args: string[]) =>
  spawnSync(process.execPath, [command, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DATABASE_URL: service.databaseUrl },
  });

/** Alters records without recording a change. */
before(() =>
  service.superuser.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`update banyan.users set nick_name = 'forged'`;
  }),
);

test('the command prints no anchor of a damaged ledger, and rejects an anchor with a wrong signature', () => {
  const damaged = run('--anchor');
  assert.equal(damaged.status, 1, damaged.stderr);
  assert.equal(damaged.stdout, '');
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const key = fileOf('public.pem', publicKey.export({ type: 'spki', format: 'pem' }) as string);
  const anchor = createAnchor('2026-11-17T00:00:00Z', [{ tenantId: '000000', seq: 0, hash: '' }], pem);
  const altered = fileOf('altered.json', JSON.stringify({ ...anchor, heads: [] }));
  const signed = fileOf('signed.json', JSON.stringify(anchor));
  for (const [args, message] of [
    [['--compare', altered, '--key', key], /signature of the anchor is wrong/],
    [['--compare', signed], /anchor is signed\. Pass the key/],
    [['--compare', key], /not an anchor/],
    [['--compare', signed, '--key', signed], /must be an Ed25519 key/],
    [['--unknown'], /Unknown option/],
  ] as const) {
    const { status, stderr } = run(...args);
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  }
});
