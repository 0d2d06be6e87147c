import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { type Instruction, isIgnored, readDockerfile } from '../support/dockerfile.ts';
import { copy, copyPackages } from '../support/packages.ts';
import { launch, newDataFolder, project } from '../support/process.ts';
import { isLong } from '../support/scale.ts';
import { createEmptyDatabase, PASSWORD } from '../support/service.ts';

/** deploy/Dockerfile, step by step in plain folders: without a container, without a registry and without root's file system. */

const SETTINGS = { npm_config_update_notifier: 'false', npm_config_offline: 'true', npm_config_audit: 'false' };

/** Runs the instructions of a stage in a folder that stands for its file system. Returns its environment and command. */
function runStage(root: string, instructions: Instruction[], stages: Record<string, string>) {
  let directory = '/';
  const environment: Record<string, string> = { PATH: process.env.PATH ?? '', HOME: root, ...SETTINGS };
  const metadata: Record<string, string> = {};
  const inRoot = (name: string) => path.join(root, path.resolve(directory, name));
  for (const { name, text } of instructions) {
    if (name === 'WORKDIR') {
      directory = path.resolve(directory, text);
      fs.mkdirSync(inRoot('.'), { recursive: true });
    } else if (name === 'ENV') {
      for (const [, key = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) environment[key] = value;
    } else if (name === 'COPY') copyInto(text, inRoot, stages);
    else if (name === 'RUN') runCommand(text, inRoot('.'), root, environment);
    else metadata[name] = text;
  }
  return { environment, metadata, directory: inRoot('.') };
}

function copyInto(text: string, inRoot: (name: string) => string, stages: Record<string, string>) {
  const [, stage] = /^--from=(\w+) /.exec(text) ?? [];
  const names = text.replace(/^--from=\w+ /, '').split(' ');
  const to = String(names.pop());
  for (const name of names) {
    const from = stage ? path.join(String(stages[stage]), name) : path.join(project, name);
    if (name !== '.') {
      copy(from, inRoot(to.endsWith('/') ? path.join(to, path.basename(name)) : to), 'copy');
      continue;
    }
    for (const entry of fs.readdirSync(from))
      if (!isIgnored(entry)) copy(path.join(from, entry), inRoot(entry), 'copy');
    // Those of the client are ignored too.
    for (const ignored of ['client/dist', 'client/node_modules'])
      fs.rmSync(inRoot(ignored), { recursive: true, force: true });
  }
}

function runCommand(text: string, cwd: string, root: string, env: Record<string, string>) {
  // There is no registry, and perhaps no cache: the packages of this project are those that npm would install.
  if (text === 'npm ci') return copyPackages(cwd, { dev: true });
  // A build takes a minute. The small size copies the one that `npm test` has made, and the build has to accept it.
  if (text === 'npm run build' && !isLong) {
    for (const each of ['dist', 'client/dist']) copy(path.join(project, each), path.join(cwd, each), 'copy');
    fs.rmSync(path.join(cwd, 'dist/tests'), { recursive: true });
  }
  // Only a container has its own /data, and only root gives a folder to another user.
  const owned = process.getuid?.() === 0 ? text : text.replace(/ && chown \S+ \S+$/, '');
  const command = owned.replaceAll(/(?<= )\/data\b/g, path.join(root, 'data'));
  const { status, stderr, stdout } = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
  assert.equal(status, 0, `${command}: ${stdout}${stderr}`);
  if (text === 'npm run build')
    assert.equal(/Compiling|Building/.test(stderr), isLong, 'a copy of a build is up to date');
}

test('every step of the Dockerfile runs, and the command starts the service twice', async () => {
  const { arguments: args, stages } = readDockerfile();
  assert.match(String(args.NODE_IMAGE), /node:\d+-bookworm-slim$/, 'an image with glibc');
  assert.ok(stages.length === 2 && stages.every(({ from }) => /^\$\{NODE_IMAGE\}$/.test(from)));
  // Packages can be linked to this folder more often than to that of the test run, which is in memory.
  const folder = path.dirname(newDataFolder(os.tmpdir()));
  const roots = { build: path.join(folder, 'build'), '': path.join(folder, 'image') };
  let image = { environment: {}, metadata: {} as Record<string, string>, directory: '' };
  for (const { name, instructions } of stages) {
    const root = roots[name as keyof typeof roots];
    fs.mkdirSync(root);
    image = runStage(root, instructions, { build: roots.build });
  }
  const { environment, metadata, directory } = image;
  const isInstalled = (name: string) => fs.existsSync(path.join(directory, 'node_modules', name, 'package.json'));
  assert.deepEqual([isInstalled('typescript'), isInstalled('fastify')], [false, true]);
  for (const name of ['tests', 'server/app.ts', 'dist/tests', 'scripts', '.git', 'package-lock.json'])
    assert.equal(fs.existsSync(path.join(directory, name)), false, `${name} is not in the image`);
  assert.deepEqual([metadata.USER, metadata.EXPOSE, metadata.VOLUME], ['1000:1000', '8080', '/data']);

  // The root file system of the container is read-only.
  spawnSync('chmod', ['-R', 'a-w', directory]);
  const { databaseUrl } = await createEmptyDatabase();
  const command = JSON.parse(String(metadata.CMD)) as string[];
  const [, healthcheck] = /CMD (\[.*\])$/.exec(String(metadata.HEALTHCHECK)) ?? [];
  const [, ...check] = JSON.parse(String(healthcheck)) as string[];
  assert.deepEqual([command[0], JSON.parse(String(healthcheck))[0]], ['node', 'node']);
  for (const attempt of ['first start', 'second start']) {
    const run = launch(command.slice(1), {
      cwd: directory,
      env: { ...environment, PORT: '0', DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: PASSWORD },
    });
    const client = await run.ready();
    assert.equal((await client.get('/health/ready')).code, 200, attempt);
    assert.equal((await client.get('/', { headers: { accept: 'text/html' } })).status, 200, 'the console is served');
    const { port } = new URL(client.base);
    const checkOn = (PORT: string) => spawnSync(process.execPath, check, { env: { PORT } }).status;
    assert.deepEqual([checkOn(port), checkOn('1')], [0, 1], 'the health check');
    assert.equal(await run.stop(), 0, run.stderr);
    assert.doesNotMatch(run.stderr, /Compiling|Building/);
  }
  spawnSync('chmod', ['-R', 'u+w', directory]);
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
