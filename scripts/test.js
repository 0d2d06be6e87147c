// npm test: formatting and lint, types, then every test on a real PostgreSQL of its own.
//   npm test -- departments     only the test files whose path holds that word
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.js';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const wanted = process.argv.slice(2);

step('Formatting and lint', () => run('node_modules/@biomejs/biome/bin/biome', ['ci', '--error-on-warnings', '.']));
step('Types', () => build({ always: true }));

const files = fs
  .readdirSync('dist', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.js') && wanted.every((word) => name.includes(word)))
  .map((name) => path.join('dist', name))
  // Those that start and stop processes spend most of their time waiting: begun last, they would be waited for alone.
  .sort((a, b) => Number(waits(b)) - Number(waits(a)) || a.localeCompare(b));

const { startEmbedded } = await import('../dist/db/embedded.js');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-test-'));
const server = await startEmbedded(folder, () => {});
let failed = false;
let stopped = false;
try {
  const long = process.env.BANYAN_TEST_LONG === '1';
  // Some write or read as much as one call may, which has ten seconds as any other, and in the long run some judge speed:
  // they have the machine to themselves.
  const alone = long ? /overload|timing|bulk|many|races.history/ : /bulk|many|races.history/;
  // Few browsers are enough to fill two cores, and people's patience is part of these: more would only be slower each.
  const browsers = /tests.console./;
  const groups = [
    { atOnce: long ? 2 : 5, names: files.filter((name) => !alone.test(name) && !browsers.test(name)) },
    { atOnce: long ? 2 : 3, names: files.filter((name) => !alone.test(name) && browsers.test(name)) },
    { atOnce: 1, names: files.filter((name) => alone.test(name)) },
  ];
  for (const { atOnce, names } of groups) if (names.length > 0 && !stopped) await test(names, atOnce);
} finally {
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

/** @param {string} name */
function waits(name) {
  return /faults|workers|served|recovery|stop|start|beside|leftovers|embedded/.test(name);
}

/** @param {string[]} names @param {number} atOnce */
async function test(names, atOnce) {
  const env = { ...process.env, BANYAN_TEST_SERVER: JSON.stringify(server) };
  const options = ['--enable-source-maps', '--test', '--test-reporter=spec', `--test-concurrency=${atOnce}`];
  const tests = spawn(process.execPath, [...options, ...names], { stdio: 'inherit', env });
  // Ctrl-C ends the tests, and what follows cleans up after them.
  const end = () => {
    stopped = true;
    tests.kill('SIGTERM');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
  const [status] = await once(tests, 'exit');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, end);
  if (status !== 0) failed = true;
}

/** @param {string} name @param {() => void} work */
function step(name, work) {
  const began = Date.now();
  work();
  console.log(`${name}: fine (${Date.now() - began} ms)`);
}

/** @param {string} program @param {string[]} args */
function run(program, args) {
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
