// Only with test:long: it packs and installs the whole project with npm; package-imports.test.ts compares imports with dependencies.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { afterFile } from '../support/cleanup.ts';
import { copyPackages } from '../support/packages.ts';
import { newDataFolder, project, Run } from '../support/process.ts';

/** The package that `npm pack` makes, installed into an empty folder, without a registry. */

// The folder of the test run may be on another disk, where packages cannot be linked.
const folder = path.dirname(newDataFolder(os.tmpdir()));
const environment = { PATH: process.env.PATH ?? '', HOME: folder, npm_config_update_notifier: 'false', PORT: '0' };

async function run(program: string, args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: folder, env: environment }).catch((error) => {
    throw new Error(`${program} ${args.join(' ')}: ${error.stdout}${error.stderr}`);
  });
  return stdout;
}

let packed: { filename: string; unpackedSize: number; files: { path: string }[] };
before(async () => {
  // The service and the console have been built before the tests began.
  const args = ['pack', project, '--ignore-scripts', '--json', '--pack-destination', folder];
  [packed] = JSON.parse(await run('npm', args));
  fs.writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'empty', version: '1.0.0', private: true }),
  );
  // npm takes packages that it finds here, so it needs neither a registry nor a cache.
  copyPackages(folder, { dev: false });
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${packed.filename}`]);
});

test('the package has what the service needs at runtime and its documents, and nothing else', () => {
  const names = packed.files.map(({ path: name }) => name);
  const folders = [...new Set(names.map((name) => name.split('/').slice(0, 2).join('/')))].sort();
  const files = folders.filter((name) => !/^(dist|docs|db|server)\//.test(name));
  assert.deepEqual(files, ['LICENSE', 'README.md', 'README.zh-CN.md', 'package.json']);
  const compiled = folders.filter((name) => /^(dist|db|server)\//.test(name));
  assert.deepEqual(compiled, ['db/schema', 'dist/console', 'dist/db', 'dist/server', 'server/auth']);
  assert.ok(!names.some((name) => /\.(ts|map)$|\.test\.|\.built/.test(name)));
  assert.ok(names.includes('dist/console/index.html'));
  const packages = fs.readdirSync(path.join(folder, 'node_modules'));
  for (const name of ['typescript', 'vite', 'react', 'antd', '@biomejs']) assert.ok(!packages.includes(name), name);
  const { stdout } = spawnSync('du', ['-sk', '--apparent-size', 'node_modules'], { cwd: folder, encoding: 'utf8' });
  // It takes about 120 MB (docs/deploy.md), half of it PostgreSQL.
  assert.ok(Number.parseInt(stdout, 10) < 200_000, `the installation takes ${stdout}`);
});

test('npx banyan starts in an empty folder without compiling, and doctor finds nothing', async () => {
  const { version } = JSON.parse(fs.readFileSync(path.join(project, 'package.json'), 'utf8'));
  assert.equal(await run('npx', ['banyan', '--version']), `${version}\n`);
  assert.match(await run('npx', ['banyan', '--help']), /^ {2}doctor +checks settings/m);

  // A terminal sends Ctrl-C to the whole group: npx, its shell and the service.
  const child: ChildProcess = spawn('npx', ['banyan'], { cwd: folder, env: environment, detached: true });
  const service = new Run(child);
  afterFile(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-Number(child.pid), 'SIGKILL');
    await service.ended;
  });
  const client = await service.ready();
  assert.equal(service.printed('Data'), path.join(folder, 'data'));
  assert.doesNotMatch(service.stderr, /Compiling|Building/);
  assert.equal((await client.get('/health/ready')).code, 200);
  const page = await client.get('/', { headers: { accept: 'text/html' } });
  assert.match(page.text, /<script/);
  const password = service.printed('Password');
  const login = await client.post('/auth/login', { tenantId: '000000', username: 'admin', password });
  assert.equal(login.code, 200);

  const doctor = spawnSync('npx', ['banyan', 'doctor'], { cwd: folder, env: environment, encoding: 'utf8' });
  const problems = doctor.stdout.split('\n').filter((line) => /^PROBLEM/.test(line) && !/ disk /.test(line));
  assert.deepEqual([problems, doctor.stderr], [[], '']);
  assert.match(doctor.stdout, /^ok +indexes/m);

  process.kill(-Number(child.pid), 'SIGINT');
  await once(child, 'close');
  assert.match(service.stderr, /Stopped\./);
  assert.equal(fs.existsSync(path.join(folder, 'data/postgres/postmaster.pid')), false);
});
