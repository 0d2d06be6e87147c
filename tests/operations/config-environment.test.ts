import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../server/config.ts';
import { after } from '../support/cleanup.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-config-'));
after(() => fs.rmSync(folder, { recursive: true }));
const root = new URL('../../../', import.meta.url);

/** Reads the config in a separate process whose folder contains this .env file. */
function readInProcess(env: Record<string, string>, dotEnv: string) {
  fs.writeFileSync(path.join(folder, '.env'), dotEnv);
  const code = `
    const { readConfig, readEnvironment } = await import('${new URL('dist/server/config.js', root)}');
    console.log(JSON.stringify(readConfig(readEnvironment())));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return JSON.parse(stdout || assert.fail(stderr)) as Config;
}

test('a .env file is read, and the environment overrides it', () => {
  const dotEnv = '# ours\nPORT=9001\nBANYAN_ADMIN_USERNAME="张三"\nBANYAN_LOG_LEVEL=warn\nHOST=\n';
  const { port, adminUsername, logLevel, host, dataDir } = readInProcess({ PORT: '9002' }, dotEnv);
  assert.deepEqual([port, adminUsername, logLevel, host], [9002, '张三', 'warn', '127.0.0.1']);
  assert.equal(dataDir, path.join(fs.realpathSync(folder), 'data'));
});

test('a start with invalid settings ends immediately with messages and no stack trace', () => {
  fs.writeFileSync(path.join(folder, '.env'), 'BANYAN_TIME_ZONE=Mars/Olympus\n');
  const start = fileURLToPath(new URL('scripts/start.js', root));
  const { status, stdout, stderr } = spawnSync(process.execPath, [start], {
    cwd: folder,
    env: { PORT: 'none', BANYAN_ADMIN_PASSWORD: 'secret-' },
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.equal(stdout, '');
  for (const name of ['PORT "none"', 'BANYAN_TIME_ZONE "Mars/Olympus"', 'BANYAN_ADMIN_PASSWORD']) {
    assert.ok(stderr.includes(name), stderr);
  }
  assert.doesNotMatch(stderr, /secret-|\n\s+at /);
  assert.deepEqual(fs.readdirSync(folder), ['.env'], 'the start created nothing');
});
