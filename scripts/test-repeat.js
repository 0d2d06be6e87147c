// npm run test:repeat -- --runs 5 [--busy] [--user NAME]: runs the README's test command repeatedly, each time in a new clone of
// the current commit, to find flaky tests. As root, every other run uses an unprivileged user (nobody), unless --user names one.
// --busy: also runs four endless loops in other processes, so that the tests get less CPU time.
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
const busyProcesses = values.busy
  ? Array.from({ length: 4 }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  : [];
process.on('exit', () => {
  for (const child of busyProcesses) child.kill();
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

let [passed, failed] = [0, 0];
for (let n = 1; n <= Number(values.runs); n++) {
  const user = values.user ?? (isRoot && n % 2 === 0 ? 'nobody' : os.userInfo().username);
  const { ok, summary, log } = await run(n, user);
  if (ok) passed++;
  else failed++;
  console.log(
    `${ok ? 'ok  ' : 'FAIL'} run ${n} as ${user}${values.busy ? ', busy' : ''}: ${summary}${ok ? '' : `; ${log}`}`,
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
  const isOtherUser = user !== os.userInfo().username;
  if (isOtherUser) command('chown', ['-R', `${user}:`, home]);
  const prefix = isOtherUser
    ? ['setpriv', `--reuid=${user}`, '--regid', command('id', ['-g', user]).trim(), '--clear-groups']
    : [];
  const [program = '', ...args] = [...prefix, 'bash', '-c', 'npm ci && npm test'];
  const [startedAt, cpuBefore] = [Date.now(), cpuSeconds()];
  const output = fs.openSync(log, 'w');
  // Use the environment of a shell: the variables that npm sets for its scripts belong to the current user.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  const env = { ...Object.fromEntries(inherited), HOME: isOtherUser ? home : process.env.HOME };
  const [code] = await once(spawn(program, args, { cwd: clone, env, stdio: ['ignore', output, output] }), 'exit');
  fs.closeSync(output);
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const lastLine = fs.readFileSync(log, 'utf8').trimEnd().split('\n').at(-1);
  // This is the CPU time of the whole machine, so it includes PostgreSQL and Chromium. It is exact if nothing else runs.
  const cpu = values.busy ? '' : `, ${Math.round(cpuSeconds() - cpuBefore)} s of CPU time`;
  fs.rmSync(home, { recursive: true, force: true });
  return { ok: code === 0, summary: `${lastLine} (${seconds} s${cpu})`, log };
}

/** @param {string} program @param {string[]} args */
function command(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

function cpuSeconds() {
  return os.cpus().reduce((sum, { times }) => sum + (times.user + times.nice + times.sys + times.irq) / 1000, 0);
}
