// npm test: checks formatting, lint, imports, migrations and types, then runs the tests on a temporary PostgreSQL.
//   npm test -- departments     runs only the test files whose path contains one of the given words
//   npm test -- --record        also writes the duration of each file to tests/durations.json, which orders the queue
//                               (npm run test:long: to tests/durations-long.json)
//   npm test -- --shuffle       runs the files in a random order (by BANYAN_TEST_SEED), to find tests that depend on each other
// Files named *.long.test.ts run only with npm run test:long. Their first line says why.
import { fork, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.js';
import { CpuTime } from './cpu-time.js';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const record = process.argv.includes('--record');
const shuffled = process.argv.includes('--shuffle');
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const isLong = process.env.BANYAN_TEST_LONG === '1';
/** The durations of the long run replace those of the everyday run where there are any. */
const DURATIONS = isLong ? ['tests/durations.json', 'tests/durations-long.json'] : ['tests/durations.json'];
// Tests often wait for PostgreSQL and Chromium, which are separate processes: more workers than cores keep all cores busy.
const WORKERS = Number(process.env.BANYAN_TEST_WORKERS) || os.availableParallelism() + 1;
/**
 * A file that reports nothing for this long hangs. It is killed and reported, so that the run ends. A test of the long run
 * sends up to 30,000 requests before it reports.
 */
const HANG_MS = isLong ? 2_400_000 : 600_000;
/** A hanging process has this long to report what it waits for. */
const HANG_REPORT_MS = 60_000;
/** The database is discarded after the tests, so nothing is flushed to disk. Tests of crashes start a durable server. */
const FAST_UNSAFE_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  checkpoint_timeout: '1d',
  max_wal_size: '2GB',
  // A file may run several services, each with up to twelve connections.
  max_connections: String(Math.max(300, 100 * WORKERS)),
  // Hundreds of connections authenticate with passwords that tests create.
  scram_iterations: '1',
  // Autovacuum would visit all test databases and change plans in the middle of a test.
  autovacuum: 'off',
};

const SAMPLE_MS = 500;

/** @type {[string, number, number][]} */
const phases = [];
const cpuTime = new CpuTime();
setInterval(() => cpuTime.sample(), SAMPLE_MS).unref();
const counts = { passed: 0, failed: 0 };
/** @type {string[]} */
const skipped = [];
/** @type {{ file: string, ms: number, inFirefox: boolean }[]} */
const finished = [];
/** @type {{ name: string, ms: number }[]} */
const tests = [];
/** @type {string[]} */
const failures = [];

await phase('lint and compile', async () => {
  run('scripts/check-imports.js', []);
  run('scripts/check-migrations.js', []);
  // The linter runs while the compiler does.
  // In a log without colors, biome would write escape sequences around each character.
  const colors = process.stdout.isTTY ? [] : ['--colors=off'];
  const args = ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', ...colors, '.'];
  const linter = spawn(process.execPath, args, { stdio: 'inherit' });
  const linted = once(linter, 'exit');
  // Only tests of the long run use the client package. Its sources are compiled with those of the service.
  build({ always: true, client: isLong });
  const [status] = await linted;
  if (status !== 0) process.exit(status ?? 1);
});
checkSuites();
const { startEmbedded } = await import('../dist/db/embedded/cluster.js');
const { IS_FIREFOX, prepareBrowser } = await import('../dist/tests/support/browser.js');
const { findFirefox, FIREFOX_FILES } = await import('../dist/tests/support/firefox.js');
const folder = fs.mkdtempSync(path.join(fastTempFolder(), 'banyan-test-'));
// The user that runs PostgreSQL has to reach the folders in it.
fs.chmodSync(folder, 0o711);
cpuTime.folder = folder;
if (isLong) {
  const files = createQueue([]).map(nameOf);
  const missing = FIREFOX_FILES.filter((file) => !files.includes(file));
  if (missing.length > 0) throw new Error(`These files of FIREFOX_FILES do not exist: ${missing}`);
}
const queue = createQueue(words);
if (queue.some((file) => file.includes('console/'))) await phase('browser', () => prepareBrowser());
const server = await phase('database', () => startEmbedded(folder, () => {}, undefined, FAST_UNSAFE_SETTINGS));
let stopped = false;
/** @type {Set<import('node:child_process').ChildProcess>} */
const workers = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
try {
  await phase('template', async () => {
    const shared = { ...server, folder: fs.mkdtempSync(path.join(folder, 'shared-')) };
    fs.chmodSync(shared.folder, 0o711);
    process.env.BANYAN_TEST_SERVER = JSON.stringify(shared);
    const { createTemplate } = await import('../dist/tests/support/database.js');
    process.env.BANYAN_TEST_SERVER = JSON.stringify({ ...shared, template: await createTemplate() });
  });
  await phase('tests', runQueue);
  // The long run repeats some files of the console in Firefox if it is installed.
  if (isLong && !IS_FIREFOX && findFirefox()) {
    process.env.BANYAN_TEST_BROWSER = 'firefox';
    queue.push(...createQueue(words).filter((file) => FIREFOX_FILES.includes(nameOf(file))));
    await phase('tests in Firefox', runQueue);
  }
} finally {
  // Kill PostgreSQL: a clean shutdown would write everything to disk first.
  await server.stopImmediately();
  fs.rmSync(folder, { recursive: true, force: true });
}
summarize();
process.exit(counts.failed > 0 || stopped || finished.length === 0 ? 1 : 0);

function runQueue() {
  return Promise.all(Array.from({ length: Math.min(WORKERS, queue.length) }, (_, n) => runWorkers(n === 0)));
}

/**
 * Runs workers one after another until the queue is empty: a worker that dies is replaced.
 *
 * @param {boolean} runsConsole
 */
async function runWorkers(runsConsole) {
  while (queue.length > 0 && !stopped) await runWorker(runsConsole);
}

/**
 * Takes a file from the queue. One worker runs the files of the console, and the others only when nothing else is left: each
 * of them would start a browser, and the console takes seconds of CPU time until it is warm.
 *
 * @param {boolean} runsConsole
 */
function takeFile(runsConsole) {
  const index = queue.findIndex((file) => file.includes('/console/') === runsConsole);
  return queue.splice(Math.max(0, index), 1)[0];
}

/** @param {boolean} runsConsole */
function runWorker(runsConsole) {
  const reporter = ['--test-reporter=./scripts/test-reporter.js', '--test-reporter-destination=stdout'];
  const child = fork('scripts/test-worker.js', {
    execArgv: ['--import', './scripts/test-tracking.js', '--enable-source-maps', ...reporter],
  });
  workers.add(child);
  /** @type {{ file: string, startedAt: number, cpuMs: CpuMs, lines: string[], tests: number, passed: number, failed: number, running: string } | undefined} */
  let current;
  /** @type {NodeJS.Timeout | undefined} */
  let watchdog;
  const inFirefox = process.env.BANYAN_TEST_BROWSER === 'firefox';
  const next = () => {
    const file = stopped ? undefined : takeFile(runsConsole);
    current = file
      ? { file, startedAt: Date.now(), cpuMs: readCpuMs(), lines: [], tests: 0, passed: 0, failed: 0, running: '' }
      : undefined;
    child.send(file ? { file: path.resolve(file) } : 'end');
  };
  /** @param {string} error */
  const end = (error) => {
    if (!current) return;
    const { file, startedAt, cpuMs, lines, passed, failed } = current;
    if (error) fail(file, file, error);
    finished.push({ file: nameOf(file), ms: Date.now() - startedAt, inFirefox });
    const took = `${((Date.now() - startedAt) / 1000).toFixed(1)} s${describeCpuMs(cpuMs)}`;
    console.log(
      [
        `${failed > 0 || error ? '✖' : '✔'} ${nameOf(file)} (${inFirefox ? 'Firefox, ' : ''}${passed} passed, ${took})`,
        ...lines,
      ].join('\n'),
    );
    current = undefined;
  };
  /** @param {string} file @param {string} name @param {string} error @param {string[]} [log] */
  const fail = (file, name, error, log = []) => {
    counts.failed++;
    if (current) current.failed++;
    const shown = log.length > 0 ? `\n  last lines of the service's log:\n${indent(log.slice(-15).join('\n'))}` : '';
    const browser = inFirefox ? 'BANYAN_TEST_BROWSER=firefox ' : '';
    const command = isLong ? 'npm run test:long' : 'npm test';
    const repeat = `${browser}BANYAN_TEST_SEED=${process.env.BANYAN_TEST_SEED ?? 1} ${command} -- ${nameOf(file)}`;
    failures.push(`✖ ${nameOf(file)} › ${name}\n${indent(error)}${shown}\n  repeat: ${repeat}`);
    console.log(failures.at(-1));
  };
  const onHang = () => {
    current?.lines.push(`  hangs in test: ${current.running}`);
    child.send('hang');
    setTimeout(() => child.kill('SIGKILL'), HANG_REPORT_MS).unref();
  };
  child.on('message', (/** @type {any} */ message) => {
    if (message.type === 'hang') return current?.lines.push(`  ${message.text}`);
    clearTimeout(watchdog);
    watchdog = setTimeout(onHang, HANG_MS).unref();
    if (message === 'ready') return next();
    if (!current) return;
    if (message.type === 'start') current.running = message.name;
    if (message.type === 'test') current.tests++;
    if (message.type === 'uncaught') fail(current.file, current.running, message.error);
    if (message.type === 'note') current.lines.push(`  ${message.text}`);
    if (message.type === 'test' && message.skipped !== undefined) {
      skipped.push(`${nameOf(current.file)} › ${message.name}: ${message.skipped}`);
    } else if (message.type === 'test' && !message.failed && !message.suite) {
      counts.passed++;
      current.passed++;
      tests.push({ name: `${nameOf(current.file)} › ${message.name}`, ms: message.ms });
    }
    if (message.type === 'test' && message.failed && message.error)
      fail(current.file, message.name, message.error, message.log);
    if (message.type === 'file') {
      // A file whose tests failed has no error of its own, unless its hooks failed too, or it did not load completely.
      if (message.failed) end(message.error || (current.failed === 0 ? 'The file failed.' : ''));
      else end(current.tests === 0 ? 'The file has no tests.' : '');
      next();
    }
  });
  return new Promise((resolve) =>
    child.on('exit', (code, signal) => {
      clearTimeout(watchdog);
      workers.delete(child);
      end(`The process exited with ${signal ?? `code ${code}`} while running this file.`);
      resolve(undefined);
    }),
  );
}

/** @typedef {Record<string, number>} CpuMs */

/** @returns {CpuMs} */
function readCpuMs() {
  if (WORKERS === 1) cpuTime.sample();
  return { ...cpuTime.ms };
}

/** Describes the CPU time since `before`, if only one file ran. @param {CpuMs} before */
function describeCpuMs(before) {
  if (WORKERS > 1) return '';
  const times = Object.entries(readCpuMs()).map(([kind, ms]) => `${kind} ${((ms - before[kind]) / 1000).toFixed(1)}`);
  return `; CPU time: ${times.join(', ')}`;
}

/**
 * Returns the test files, the longest first, so that no long one runs alone at the end. Files without a recorded duration come
 * before all others. With --shuffle, the order is random.
 *
 * @param {string[]} words
 */
function createQueue(words) {
  const durations = Object.assign(
    {},
    ...DURATIONS.filter(fs.existsSync).map((file) => JSON.parse(fs.readFileSync(file, 'utf8'))),
  );
  const seed = process.env.BANYAN_TEST_SEED ?? '1';
  const randomOf = (/** @type {string} */ file) =>
    createHash('sha256').update(`${seed} ${file}`).digest().readUInt32BE();
  const msOf = (/** @type {string} */ file) =>
    shuffled ? randomOf(file) : (durations[nameOf(file)] ?? Number.POSITIVE_INFINITY);
  return fs
    .readdirSync('dist/tests', { recursive: true, encoding: 'utf8' })
    .filter(
      (name) =>
        name.endsWith('.test.js') &&
        (isLong || !name.endsWith('.long.test.js')) &&
        (words.length === 0 || words.some((word) => name.includes(word.replace(/^tests\//, '')))),
    )
    .map((name) => path.join('dist/tests', name))
    .sort((a, b) => msOf(b) - msOf(a) || a.localeCompare(b));
}

/** Rejects asynchronous suites: tests that they add after their file was loaded would not belong to them (test-tracking.js). */
function checkSuites() {
  const files = fs
    .readdirSync('tests', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'));
  const wrong = files.filter((name) =>
    /\bdescribe\([^\n]*, async/.test(fs.readFileSync(path.join('tests', name), 'utf8')),
  );
  if (wrong.length === 0) return;
  console.error(`The callback of describe must not be async. Await what its tests need before it: ${wrong.join(', ')}`);
  process.exit(1);
}

/** Returns a folder in memory if enough is free: the databases of all test files have about fifty thousand files. */
function fastTempFolder() {
  const REQUIRED_BYTES = 6e9;
  try {
    const { bavail, bsize } = fs.statfsSync('/dev/shm');
    if (bavail * bsize > REQUIRED_BYTES && process.availableMemory() > 2 * REQUIRED_BYTES) return '/dev/shm';
  } catch {
    // There is no /dev/shm outside Linux.
  }
  return os.tmpdir();
}

/** Returns the short name of a test file: `races/departments`. @param {string} file */
function nameOf(file) {
  return file.replace('dist/tests/', '').replace('.test.js', '');
}

function summarize() {
  const seconds = (/** @type {number} */ ms) => `${(ms / 1000).toFixed(1)} s`.padStart(9);
  finished.sort((a, b) => b.ms - a.ms);
  console.log('\nTwenty slowest files:');
  for (const { file, ms, inFirefox } of finished.slice(0, 20))
    console.log(`${seconds(ms)}  ${file}${inFirefox ? ' (Firefox)' : ''}`);
  tests.sort((a, b) => b.ms - a.ms);
  console.log('\nTwenty slowest tests:');
  for (const { name, ms } of tests.slice(0, 20)) console.log(`${seconds(ms)}  ${name}`);
  console.log('\nPhases: duration, CPU time');
  for (const [name, ms, cpuMs] of phases) console.log(`${seconds(ms)}${seconds(cpuMs)}  ${name}`);
  const cpuMs = cpuTime.sample();
  const { node, postgres, browser } = cpuTime.ms;
  console.log(`${seconds(performance.now())}${seconds(cpuMs)}  total`);
  console.log(
    `\nCPU time of Node.js: ${seconds(node).trim()}, PostgreSQL: ${seconds(postgres).trim()}, browser: ${seconds(browser).trim()}`,
  );
  if (skipped.length > 0) console.log(`\nSkipped:\n\n${skipped.join('\n')}`);
  if (failures.length > 0) console.log(`\nFailed:\n\n${failures.join('\n\n')}`);
  if (record && counts.failed === 0 && words.length === 0) {
    const rows = finished
      .filter(({ inFirefox }) => !inFirefox)
      .map(({ file, ms }) => [file, Math.max(100, Math.round(ms / 100) * 100)]);
    fs.writeFileSync(String(DURATIONS.at(-1)), `${JSON.stringify(Object.fromEntries(rows.sort()), null, 2)}\n`);
  }
  console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
}

function stop() {
  stopped = true;
  for (const child of workers) child.kill('SIGTERM');
}

/** @template T @param {string} name @param {() => T | Promise<T>} work @returns {Promise<T>} */
async function phase(name, work) {
  const startedAt = Date.now();
  const cpuMsBefore = cpuTime.sample();
  const result = await work();
  phases.push([name, Date.now() - startedAt, cpuTime.sample() - cpuMsBefore]);
  return result;
}

/** @param {string} text */
function indent(text) {
  return text.replace(/^/gm, '    ');
}

/** @param {string} program @param {string[]} args */
function run(program, args) {
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
