// npm run test:node -- 24 [words …]: runs the tests with another version of Node.js, installed from the npm registry.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [version, ...words] = process.argv.slice(2);
if (!version) {
  console.error('Usage: npm run test:node -- <version>, for example npm run test:node -- 24');
  process.exit(1);
}
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-node-'));
// As root, the tests start services that continue as another user.
fs.chmodSync(folder, 0o755);
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
const name = `node-${os.platform()}-${os.arch()}`;
// Install outside the project, so that its npm settings and lock file do not change.
fs.writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--silent', `${name}@${version}`], {
  cwd: folder,
});
const bin = path.join(folder, 'node_modules', name, 'bin');
const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` };
const node = path.join(bin, 'node');
console.log(`Node.js ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()}`);
process.exitCode = run(node, ['scripts/test.js', ...words], { cwd: root, env });

/** @param {string} program @param {string[]} args @param {import('node:child_process').SpawnSyncOptions} options */
function run(program, args, options) {
  const { status } = spawnSync(program, args, { stdio: 'inherit', ...options });
  if (status !== 0 && program === 'npm') process.exit(status ?? 1);
  return status ?? 1;
}
