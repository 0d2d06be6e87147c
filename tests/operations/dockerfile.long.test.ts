// Only with test:long: it copies all packages twice, prunes them with npm and starts two services; deploy.test.ts checks the settings of the image.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { type Instruction, isIgnored, readDockerfile } from '../support/dockerfile.ts';
import { copy, copyPackages } from '../support/packages.ts';
import { launch, newDataFolder, project } from '../support/process.ts';
import { createEmptyDatabase, PASSWORD } from '../support/service.ts';

/** Runs deploy/Dockerfile step by step in plain folders, without a container, a registry or a separate root file system. */

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
    // .dockerignore also excludes these folders of the client.
    for (const ignored of ['client/dist', 'client/node_modules'])
      fs.rmSync(inRoot(ignored), { recursive: true, force: true });
  }
}

function runCommand(text: string, cwd: string, root: string, env: Record<string, string>) {
  // There is no registry, and perhaps no cache: the packages of this project are those that npm would install.
  if (text === 'npm ci') return copyPackages(cwd, { dev: true });
  // Only a container has its own /data, and only root can change the owner of a folder.
  const owned = process.getuid?.() === 0 ? text : text.replace(/ && chown \S+ \S+$/, '');
  const command = owned.replaceAll(/(?<= )\/data\b/g, path.join(root, 'data'));
  const { status, stderr, stdout } = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
  assert.equal(status, 0, `${command}: ${stdout}${stderr}`);
  if (text === 'npm run build') assert.match(stderr, /Compiling|Building/);
}

test('every step of the Dockerfile runs, and the command starts the service twice', async () => {
  const { arguments: args, stages } = readDockerfile();
  assert.match(String(args.NODE_IMAGE), /node:\d+-bookworm-slim$/, 'an image with glibc');
  assert.ok(stages.length === 2 && stages.every(({ from }) => /^\$\{NODE_IMAGE\}$/.test(from)));
  // Hard links to packages are more likely to work in this folder than in that of the test run, which may be in memory.
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
