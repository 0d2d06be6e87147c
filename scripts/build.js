// Compiles the sources to dist/ when they are newer than what is there.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = path.join(root, 'dist/.built');
const sources = ['server', 'db', 'tests', 'bench', 'tsconfig.json', 'package.json'];

/** @param {{ always?: boolean }} [options] */
export function build({ always = false } = {}) {
  if (!always && fs.existsSync(stamp) && newest(sources) <= fs.statSync(stamp).mtimeMs) return;
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  if (!fs.existsSync(compiler)) {
    refuse('The compiler is missing: run npm ci first (without --omit=dev).');
  }
  console.error('Compiling …');
  // What was compiled from a source that is gone must not live on.
  try {
    fs.rmSync(path.join(root, 'dist'), { recursive: true, force: true });
    fs.mkdirSync(path.join(root, 'dist'));
  } catch (error) {
    refuse(`It has to be compiled, and this user can't write here (${error.message}). Run npm run build as its owner.`);
  }
  const { status } = spawnSync(process.execPath, [compiler, '-p', root], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
  fs.writeFileSync(stamp, '');
}

/** @param {string} sentence */
function refuse(sentence) {
  console.error(`Banyan did not start. ${sentence}`);
  process.exit(1);
}

/** @param {string[]} names */
function newest(names) {
  let latest = 0;
  for (const name of names) {
    const file = path.join(root, name);
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (!stat) continue; // an installation without tests
    latest = Math.max(latest, stat.mtimeMs);
    if (stat.isDirectory())
      latest = Math.max(latest, newest(fs.readdirSync(file).map((entry) => path.join(name, entry))));
  }
  return latest;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
