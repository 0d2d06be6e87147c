// npm run test:repeat -- --runs 5 [--busy] [--user NAME]: the README's test command again and again, each time in a new clone of
// the current commit. Nothing may fail by chance. As root, every other run is an ordinary user's (nobody), unless --user names one.
// --busy: beside four processes that keep every core busy.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '5' }, busy: { type: 'boolean' }, user: { type: 'string' } },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const isRoot = process.getuid?.() === 0;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-repeat-'));
fs.chmodSync(folder, 0o711);
const hogs = values.busy
  ? Array.from({ length: 4 }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  : [];
process.on('exit', () => {
  for (const hog of hogs) hog.kill();
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

let [passed, failed] = [0, 0];
for (let n = 1; n <= Number(values.runs); n++) {
  const user = values.user ?? (isRoot && n % 2 === 0 ? 'nobody' : os.userInfo().username);
  const { ok, words, log } = await run(n, user);
  if (ok) passed++;
  else failed++;
  console.log(
    `${ok ? 'ok  ' : 'FAIL'} run ${n} as ${user}${values.busy ? ', busy' : ''}: ${words}${ok ? '' : `; ${log}`}`,
  );
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

/** @param {number} n @param {string} user */
async function run(n, user) {
  const home = path.join(folder, `run-${n}`);
  const clone = path.join(home, 'banyan');
  const log = path.join(folder, `run-${n}.log`);
  command('git', ['clone', '-q', root, clone]);
  command('git', ['-C', clone, 'checkout', '-q', command('git', ['-C', root, 'rev-parse', 'HEAD']).trim()]);
  const other = user !== os.userInfo().username;
  if (other) command('chown', ['-R', `${user}:`, home]);
  const line = other
    ? ['setpriv', `--reuid=${user}`, '--regid', command('id', ['-g', user]).trim(), '--clear-groups']
    : [];
  const [program = '', ...args] = [...line, 'bash', '-c', 'npm ci && npm test'];
  const [began, worked] = [Date.now(), processorSeconds()];
  const output = fs.openSync(log, 'w');
  // As in a shell of that user: what npm tells its scripts is this user's.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  const env = { ...Object.fromEntries(own), HOME: other ? home : process.env.HOME };
  const [code] = await once(spawn(program, args, { cwd: clone, env, stdio: ['ignore', output, output] }), 'exit');
  fs.closeSync(output);
  const seconds = Math.round((Date.now() - began) / 1000);
  const last = fs.readFileSync(log, 'utf8').trimEnd().split('\n').at(-1);
  // Of the whole machine: on one that is otherwise quiet it is what the run took, PostgreSQL and Chromium included.
  const cost = values.busy ? '' : `, ${Math.round(processorSeconds() - worked)} s of processor time`;
  fs.rmSync(home, { recursive: true, force: true });
  return { ok: code === 0, words: `${last} (${seconds} s${cost})`, log };
}

/** @param {string} program @param {string[]} args */
function command(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

function processorSeconds() {
  return os.cpus().reduce((sum, { times }) => sum + (times.user + times.nice + times.sys + times.irq) / 1000, 0);
}
