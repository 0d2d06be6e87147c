// Compiles the service to dist/ and builds the console to dist/console/, each only if its sources are newer than its output.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const serviceTarget = {
  stamp: path.join(root, 'dist/.built'),
  sources: ['server', 'db', 'tests', 'bench', 'tsconfig.json', 'package.json'],
};
const consoleTarget = {
  stamp: path.join(root, 'dist/console/.built'),
  sources: ['console', 'tsconfig.json', 'package-lock.json', ...schemas()],
};

/** @param {{ always?: boolean }} [options] always: compile the service even if it is up to date */
export function build({ always = false } = {}) {
  if (always || isOutdated(serviceTarget)) compile();
  if (isOutdated(consoleTarget)) buildConsole();
}

function compile() {
  const compiler = program('typescript/bin/tsc');
  console.error('Compiling …');
  // Remove the old output, so that nothing remains of deleted sources.
  try {
    fs.mkdirSync(path.join(root, 'dist'), { recursive: true });
    for (const name of fs.readdirSync(path.join(root, 'dist')).filter((name) => name !== 'console'))
      fs.rmSync(path.join(root, 'dist', name), { recursive: true, force: true });
  } catch (error) {
    cannotWrite(error);
  }
  run(compiler, ['-p', root]);
  fs.writeFileSync(serviceTarget.stamp, '');
}

function buildConsole() {
  const [compiler, bundler] = [program('typescript/bin/tsc'), program('vite/bin/vite.js')];
  console.error('Building the console …');
  const folder = path.join(root, 'console');
  const startedAt = new Date();
  try {
    // Remove the stamp first, so that an interrupted build is not taken for a complete one.
    fs.rmSync(consoleTarget.stamp, { force: true });
    fs.mkdirSync(path.dirname(consoleTarget.stamp), { recursive: true });
  } catch (error) {
    cannotWrite(error);
  }
  run(compiler, ['-p', folder]);
  run(bundler, ['build', folder, '--logLevel', 'warn']);
  // Date the stamp to the start of the build: sources that changed meanwhile are then newer.
  fs.writeFileSync(consoleTarget.stamp, '');
  fs.utimesSync(consoleTarget.stamp, startedAt, startedAt);
}

/** @param {{ stamp: string, sources: string[] }} target */
function isOutdated({ stamp, sources }) {
  const built = fs.statSync(stamp, { throwIfNoEntry: false });
  return !built || newest(sources) > built.mtimeMs;
}

/** Returns the files that define the types which the console imports from the service. */
function schemas() {
  const files = fs.readdirSync(path.join(root, 'server'), { recursive: true, encoding: 'utf8' });
  const schemaFiles = files.filter((name) => /(schema|http\/fields|http\/pagination)\.ts$/.test(name));
  return schemaFiles.map((name) => path.join('server', name));
}

/** @param {string} name */
function program(name) {
  const file = path.join(root, 'node_modules', name);
  if (!fs.existsSync(file)) fail('The compiler is not installed: run npm ci first (without --omit=dev).');
  return file;
}

/** @param {string} file @param {string[]} args */
function run(file, args) {
  const { status } = spawnSync(process.execPath, [file, ...args], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/** @param {Error} error */
function cannotWrite(error) {
  fail(
    `The sources must be compiled, but this user cannot write here (${error.message}). Run npm run build as the owner.`,
  );
}

/** @param {string} message */
function fail(message) {
  console.error(`Banyan did not start. ${message}`);
  process.exit(1);
}

/** @param {string[]} names */
function newest(names) {
  let latest = 0;
  for (const name of names) {
    const file = path.join(root, name);
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (!stat) continue; // An installation may have no tests.
    latest = Math.max(latest, stat.mtimeMs);
    if (stat.isDirectory())
      latest = Math.max(latest, newest(fs.readdirSync(file).map((entry) => path.join(name, entry))));
  }
  return latest;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
