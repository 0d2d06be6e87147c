import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { launch, newDataFolder, project } from '../support/process.ts';
import { isLong } from '../support/scale.ts';
import { createEmptyDatabase, PASSWORD } from '../support/service.ts';

/** The recipe for containers in README.md, without a container and without a registry. */

const SOURCES = [
  'server',
  'db',
  'console',
  'scripts',
  'tests',
  'bench',
  'client',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  '.npmrc',
];

/** A package that `npm prune --omit=dev` removes, and one that it keeps. */
const [DEVELOPMENT, RUNTIME] = ['typescript', 'fastify'];

/**
 * Copies the project as `COPY . .` does, so that all files have new times, and its packages as `npm ci` installs them. The
 * small size copies the build too, instead of building.
 */
function copyProject(root: string) {
  fs.mkdirSync(root);
  for (const name of isLong ? SOURCES : [...SOURCES, 'dist']) {
    copy(path.join(project, name), path.join(root, name), 'copy');
  }
  copy(path.join(project, 'node_modules'), path.join(root, 'node_modules'), 'link');
  // npm writes this file in place, so it must not be a link.
  const list = 'node_modules/.package-lock.json';
  fs.rmSync(path.join(root, list));
  copy(path.join(project, list), path.join(root, list), 'copy');
}

/** Links files where that is possible: there are thousands, and npm only removes them. */
function copy(from: string, to: string, how: 'copy' | 'link') {
  fs.mkdirSync(path.dirname(to), { recursive: true });
  const options = how === 'link' ? ['-PRl', '-PR'] : ['-PR'];
  const results = options.map((option) => () => spawnSync('cp', [option, from, to], { encoding: 'utf8' }));
  if (results.some((run) => run().status === 0)) return;
  assert.fail(`${from} could not be copied`);
}

test("the README's container recipe builds, prunes and starts twice", async () => {
  const readme = fs.readFileSync(path.join(project, 'README.md'), 'utf8');
  assert.ok(readme.includes('`npm ci && npm run build && npm prune --omit=dev`'), 'the recipe that this test runs');
  assert.ok(readme.includes('`node scripts/start.js`'));
  // Packages can be linked to this folder more often than to that of the test run, which is in memory.
  const root = path.join(path.dirname(newDataFolder(os.tmpdir())), 'app');
  copyProject(root);

  const npm = (...args: string[]) => {
    const { status, stderr } = spawnSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', HOME: path.dirname(root), npm_config_update_notifier: 'false' },
    });
    assert.equal(status, 0, stderr);
    return stderr;
  };
  const output = npm('run', 'build');
  assert.equal(/Compiling|Building/.test(output), isLong, 'a copy of a build is up to date');
  npm('prune', '--omit=dev');
  const isInstalled = (name: string) => fs.existsSync(path.join(root, 'node_modules', name, 'package.json'));
  assert.deepEqual([isInstalled(DEVELOPMENT), isInstalled(RUNTIME)], [false, true]);
  // npm has written the lock file again: whichever time it has now, its content decides.
  const later = new Date(Date.now() + 60_000);
  fs.utimesSync(path.join(root, 'package-lock.json'), later, later);

  const { databaseUrl } = await createEmptyDatabase();
  for (const attempt of ['first start', 'second start']) {
    const run = launch(['scripts/start.js'], {
      cwd: root,
      env: { DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: PASSWORD },
    });
    const client = await run.ready();
    assert.equal((await client.get('/health/ready')).code, 200, attempt);
    assert.equal((await client.get('/', { headers: { accept: 'text/html' } })).status, 200, 'the console is served');
    assert.equal(await run.stop(), 0, run.stderr);
    assert.doesNotMatch(run.stderr, /Compiling|Building/);
  }
});

test('a build runs when the content of a source changes, and not when only its time does or the tests are missing', async () => {
  const root = path.join(path.dirname(newDataFolder()), 'app');
  fs.mkdirSync(root);
  for (const name of ['server', 'db', 'console', 'scripts', 'dist', 'package.json', 'tsconfig.json']) {
    copy(path.join(project, name), path.join(root, name), 'copy');
  }
  const build = () => spawnSync(process.execPath, ['scripts/build.js'], { cwd: root, encoding: 'utf8' });
  assert.deepEqual([build().status, build().stderr], [0, ''], 'there are no tests and no lock file');
  // Without packages a build that is needed fails, so the error shows that it is.
  const changed = /The compiler is not installed/;
  const file = path.join(root, 'server/timing.ts');
  const text = fs.readFileSync(file, 'utf8');
  const { atime, mtime } = fs.statSync(file);
  fs.writeFileSync(file, `${text}\n`);
  fs.utimesSync(file, atime, mtime);
  assert.match(build().stderr, changed, 'the time of the file is the same');
  fs.writeFileSync(file, text);
  assert.equal(build().status, 0, 'the content is the same again');
  fs.rmSync(file);
  assert.match(build().stderr, changed, 'a deleted file is a change');
});
