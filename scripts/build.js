// Compiles the service to dist/ and builds the console to dist/console/, each only if its sources have changed since.
// Contents are compared, not modification times: copying files and `npm prune` change those. With --client it also builds
// the client package to client/dist/, which the service does not need.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// The compiler checks types in four threads by default, each of which reads the declarations of all libraries. With two cores
// one thread is as fast, and takes half the CPU time.
const CHECKERS = ['--checkers', String(Math.min(4, Math.ceil(os.availableParallelism() / 2)))];
const serviceTarget = {
  stamp: path.join(root, 'dist/.built'),
  sources: ['server', 'db', 'client/src', 'tests', 'bench', 'examples', 'tsconfig.json', 'package.json'],
};
const consoleTarget = {
  stamp: path.join(root, 'dist/console/.built'),
  sources: ['console', 'client/src', 'tsconfig.json', 'package-lock.json'],
};
const clientTarget = {
  stamp: path.join(root, 'client/dist/.built'),
  sources: ['client/src', 'client/tsconfig.json', 'client/tsconfig.cjs.json', 'tsconfig.json'],
};

/**
 * @param {{ always?: boolean, withConsole?: boolean, client?: boolean }} [options] always: compile the service even if it is
 *   up to date; client: also build the client package
 */
export function build({ always = false, withConsole = true, client = false } = {}) {
  if (always || isOutdated(serviceTarget)) compile();
  if (withConsole && isOutdated(consoleTarget)) buildConsole();
  if (client && isOutdated(clientTarget)) buildClient();
}

function compile() {
  const compiler = program('typescript/bin/tsc');
  console.error('Compiling …');
  const hashes = hashSources(serviceTarget.sources);
  // Remove the old output, so that nothing remains of deleted sources.
  try {
    fs.mkdirSync(path.join(root, 'dist'), { recursive: true });
    for (const name of fs.readdirSync(path.join(root, 'dist')).filter((name) => name !== 'console'))
      fs.rmSync(path.join(root, 'dist', name), { recursive: true, force: true });
  } catch (error) {
    cannotWrite(error);
  }
  run(compiler, ['-p', root, ...CHECKERS]);
  fs.writeFileSync(serviceTarget.stamp, JSON.stringify(hashes));
}

function buildConsole() {
  const [compiler, bundler] = [program('typescript/bin/tsc'), program('vite/bin/vite.js')];
  console.error('Building the console …');
  const folder = path.join(root, 'console');
  // Hash before building: sources that change meanwhile then differ from the stamp.
  const hashes = hashSources(consoleTarget.sources);
  try {
    // Remove the stamp first, so that an interrupted build is not taken for a complete one.
    fs.rmSync(consoleTarget.stamp, { force: true });
    fs.mkdirSync(path.dirname(consoleTarget.stamp), { recursive: true });
  } catch (error) {
    cannotWrite(error);
  }
  run(compiler, ['-p', folder, ...CHECKERS]);
  run(bundler, ['build', folder, '--logLevel', 'warn']);
  fs.writeFileSync(consoleTarget.stamp, JSON.stringify(hashes));
}

/** Compiles the client twice, for `import` and for `require`. */
function buildClient() {
  const compiler = program('typescript/bin/tsc');
  console.error('Building the client …');
  const hashes = hashSources(clientTarget.sources);
  const dist = path.dirname(clientTarget.stamp);
  fs.rmSync(dist, { recursive: true, force: true });
  for (const [format, config] of [
    ['esm', 'tsconfig.json'],
    ['cjs', 'tsconfig.cjs.json'],
  ]) {
    run(compiler, ['-p', path.join(root, 'client', config), ...CHECKERS]);
    for (const name of filesOf(path.join('client/dist', format)).filter((file) => file.endsWith('.d.ts'))) {
      // The compiler rewrites the extensions of imports in programs, but not in declarations.
      const text = fs.readFileSync(path.join(root, name), 'utf8');
      fs.writeFileSync(path.join(root, name), text.replace(/(from '|import\(["'])(\.[^'"]+)\.ts(["'])/g, '$1$2.js$3'));
    }
  }
  // The package says that its files are ES modules; these are not.
  fs.writeFileSync(path.join(dist, 'cjs/package.json'), '{ "type": "commonjs" }\n');
  fs.writeFileSync(clientTarget.stamp, JSON.stringify(hashes));
}

/** @param {{ stamp: string, sources: string[] }} target */
function isOutdated({ stamp, sources }) {
  if (!fs.existsSync(stamp)) return true;
  const built = fs.readFileSync(stamp, 'utf8');
  // A stamp of an earlier version is empty.
  const hashes = built.startsWith('{') ? JSON.parse(built) : {};
  return Object.entries(hashSources(sources)).some(([name, hash]) => hashes[name] !== hash);
}

/** @param {string} name */
function program(name) {
  const file = path.join(root, 'node_modules', name);
  if (!fs.existsSync(file)) fail('The compiler is not installed: run npm ci first (without --omit=dev).');
  return file;
}

/** @param {string} file @param {string[]} args */
function run(file, args) {
  const env = { ...process.env };
  delete env.BANYAN_ADMIN_PASSWORD;
  const { status } = spawnSync(process.execPath, [file, ...args], { stdio: ['ignore', 2, 2], env });
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
  console.error(`Banyan could not be built. ${message}`);
  process.exit(1);
}

/**
 * Hashes the names and contents of the files of each source. Sources that are missing are left out: an installation may have
 * no tests.
 *
 * @param {string[]} sources
 * @returns {Record<string, string>}
 */
function hashSources(sources) {
  const existing = sources.filter((name) => fs.existsSync(path.join(root, name)));
  return Object.fromEntries(existing.map((name) => [name, hashFiles(name)]));
}

/** @param {string} source */
function hashFiles(source) {
  const hash = createHash('sha256');
  for (const file of filesOf(source)) {
    const content = fs.readFileSync(path.join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/**
 * @param {string} name
 * @returns {string[]}
 */
function filesOf(name) {
  if (!fs.statSync(path.join(root, name)).isDirectory()) return [name];
  const entries = fs.readdirSync(path.join(root, name)).sort();
  return entries.flatMap((entry) => filesOf(path.join(name, entry)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build({ client: process.argv.includes('--client') });
