import fs from 'node:fs';
import path from 'node:path';
import { type Database, withServiceConnection } from '../../db/connect.ts';
import { findBloatedTables, findIndexProblems, measureClock, readServerFacts } from '../../db/diagnosis.ts';
import { defaultConnectionTiming, type Sql } from '../../db/driver.ts';
import { errorCode } from '../../db/errors.ts';
import { assertUpToDate } from '../../db/migrate.ts';
import { assertSafeRole, assertSettings } from '../../db/roles.ts';
import { StartupError } from '../../db/startup-error.ts';
import { type Config, type Environment, readConfig, settings } from '../config.ts';
import { readSealingLag } from '../ledger/sealing.ts';
import { version } from '../version.ts';
import { callOf } from './call.ts';

/** The result of a check: what was found and, if something is wrong, what to do. */
export interface Finding {
  check: string;
  found: string;
  advice?: string;
}

interface Options {
  environment: Environment;
  print(line: string): void;
}

/** The oldest supported Node.js, as in package.json, and the newest PostgreSQL that is tested. */
const OLDEST_NODE = [20, 19] as const;
const NEWEST_POSTGRES = 18;
const MAX_CLOCK_DIFFERENCE_MS = 2_000;
const MAX_SEALING_LAG_SECONDS = 60;
/** PostgreSQL warns at about 2,100 million, and autovacuum should act at 200 million. */
const MAX_TRANSACTION_AGE = 1_000_000_000;
const MIN_FREE = { bytes: 2 ** 30, share: 0.05 };
/** Each process keeps up to this many connections (db/connect.ts). */
const CONNECTIONS_PER_PROCESS = 10;

/** Prints a line for each check. Returns the exit code: 0 if everything is in order, otherwise 1. */
export async function runDoctor({ environment, print }: Options): Promise<number> {
  print(`Banyan ${version} on Node.js ${process.versions.node}, ${process.platform} ${process.arch}\n`);
  let problems = 0;
  for await (const { check, found, advice } of examine(environment)) {
    print(`${advice === undefined ? 'ok     ' : 'PROBLEM'}  ${check.padEnd(12)} ${found}`);
    if (advice === undefined) continue;
    problems++;
    print(`${' '.repeat(22)}→ ${advice}`);
  }
  print(
    problems === 0 ? '\nEverything is in order.' : `\n${problems} ${problems === 1 ? 'problem' : 'problems'} found.`,
  );
  return problems === 0 ? 0 : 1;
}

async function* examine(environment: Environment): AsyncGenerator<Finding> {
  yield checkNode(process.versions.node);
  yield* checkEnvironment(environment, '.env');
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    const [, ...lines] = (error as Error).message.split('\n');
    for (const line of lines) yield problem('settings', line.trim(), 'Correct it; README.md describes all settings.');
    return;
  }
  yield { check: 'settings', found: 'all settings are valid' };
  if (!config.databaseUrl) yield checkDisk(existingFolder(config.dataDir));
  try {
    const findings = await withServiceConnection(config, (db) => collect(checkDatabase(db, config)));
    yield* findings;
  } catch (error) {
    yield explainNoDatabase(error);
  }
}

const problem = (check: string, found: string, advice: string): Finding => ({ check, found, advice });

async function collect(findings: AsyncIterable<Finding>): Promise<Finding[]> {
  const all: Finding[] = [];
  for await (const each of findings) all.push(each);
  return all;
}

export function checkNode(nodeVersion: string): Finding {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const isSupported = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  const required = OLDEST_NODE.join('.');
  if (isSupported) return { check: 'Node.js', found: `${nodeVersion} is supported` };
  return problem('Node.js', `${nodeVersion} is older than ${required}`, `Install Node.js ${required} or newer.`);
}

/** Looks for misspelled settings, and for a file with passwords that other users can read. */
export function* checkEnvironment(environment: Environment, file: string): Generator<Finding> {
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('BANYAN_') && !name.startsWith('BANYAN_TEST_') && !Object.hasOwn(settings, name),
  );
  for (const name of unknown)
    yield problem('settings', `${name} is not a setting and has no effect`, 'Correct its name, or remove it.');
  const mode = fs.statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) !== 0 && /^\s*(DATABASE_URL|\w*PASSWORD)\s*=\s*\S/m.test(fs.readFileSync(file, 'utf8')))
    yield problem('settings', `other users can read the passwords in ${file}`, `Run: chmod 600 ${file}`);
}

/** Returns the folder, or the nearest one above it that exists. */
function existingFolder(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) if (fs.existsSync(at) || at === path.dirname(at)) return at;
}

export function checkDisk(folder: string, { bavail, blocks, bsize } = fs.statfsSync(folder)): Finding {
  const [free, total] = [bavail * bsize, blocks * bsize];
  const found = `${(free / 2 ** 30).toFixed(1)} of ${(total / 2 ** 30).toFixed(1)} GiB are free at ${folder}`;
  if (free >= MIN_FREE.bytes && free >= MIN_FREE.share * total) return { check: 'disk', found };
  return problem(
    'disk',
    found,
    'Free some space or enlarge the disk: when it is full, PostgreSQL stops. BANYAN_LEDGER_DAYS moves old changes to an archive, which you can empty.',
  );
}

async function* checkDatabase(db: Database, config: Config): AsyncGenerator<Finding> {
  const facts = await db.use(readServerFacts);
  const major = Number.parseInt(facts.version, 10);
  yield major >= 15 && major <= NEWEST_POSTGRES
    ? { check: 'PostgreSQL', found: `${facts.version} is supported` }
    : problem('PostgreSQL', `${facts.version} is not tested`, `Use a version from 15 to ${NEWEST_POSTGRES}.`);
  yield await attempt('tables', 'the tables and functions are those of this version', () => db.use(assertUpToDate));
  yield await attempt('roles', 'row-level security applies to the role of the service', () => db.use(assertSafeRole));
  yield await attempt('connections', 'the settings of connections are in effect', () =>
    db.use((sql) => assertSettings(sql, config.timeZone, defaultConnectionTiming)),
  );
  // Allow three more: for the tables' owner, background jobs, and checks whether the server is alive (db/liveness.ts).
  const needed = config.workers * CONNECTIONS_PER_PROCESS + 3;
  if (needed > facts.maxConnections)
    yield problem(
      'connections',
      `this node may need ${needed} connections, and the server allows ${facts.maxConnections}`,
      'Raise max_connections of PostgreSQL, or lower BANYAN_WORKERS.',
    );
  yield checkClock(await db.use(measureClock));
  yield* await db.use(checkIndexes);
  yield* await db.use((sql) => checkBloat(sql, facts));
  yield checkSealing(await readSealingLag(db));
}

/** Runs a check that the service also makes when it starts. Its errors say what to do. */
async function attempt(check: string, found: string, assert: () => Promise<unknown>): Promise<Finding> {
  try {
    await assert();
    return { check, found };
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    const [what = '', ...advice] = error.message.split(/(?<=\.) (?=[A-Z])/);
    return problem(check, what.replace(/\.$/, ''), advice.join(' ') || 'Start the service again.');
  }
}

export function checkClock({ aheadMs, uncertaintyMs }: { aheadMs: number; uncertaintyMs: number }): Finding {
  const found = `the database is ${Math.abs(aheadMs)} ms ${aheadMs < 0 ? 'behind' : 'ahead'} (± ${uncertaintyMs} ms)`;
  if (Math.abs(aheadMs) - uncertaintyMs <= MAX_CLOCK_DIFFERENCE_MS) return { check: 'clock', found };
  return problem(
    'clock',
    found,
    'Synchronize both machines (NTP): certificates, logs and webhooks depend on the time.',
  );
}

async function checkIndexes(sql: Sql): Promise<Finding[]> {
  const { checked, invalid, missing } = await findIndexProblems(sql);
  const findings = [
    ...invalid.map((name) =>
      problem('indexes', `${name} is invalid and not used`, `Run: reindex index concurrently banyan.${name}`),
    ),
    ...missing.map(({ name, statement }) => problem('indexes', `${name} is missing`, `Run: ${statement}`)),
  ];
  return findings.length > 0 ? findings : [{ check: 'indexes', found: `all ${checked} are valid, none is missing` }];
}

async function checkBloat(sql: Sql, facts: { autovacuum: boolean; transactionAge: number }): Promise<Finding[]> {
  const findings = (await findBloatedTables(sql)).map(({ table, dead, live }) =>
    problem('bloat', `${table} has ${dead} dead and ${live} live rows`, `Run: vacuum (analyze) banyan.${table}`),
  );
  if (!facts.autovacuum)
    findings.push(problem('bloat', 'autovacuum is off', 'Turn it on in postgresql.conf: tables grow without it.'));
  if (facts.transactionAge > MAX_TRANSACTION_AGE)
    findings.push(
      problem(
        'bloat',
        `the oldest transaction id is ${facts.transactionAge} transactions old; at 2^31 PostgreSQL stops`,
        'End transactions and drop replication slots that hold back vacuum, then run: vacuum (freeze)',
      ),
    );
  return findings.length > 0 ? findings : [{ check: 'bloat', found: 'no table has many dead rows' }];
}

export function checkSealing(seconds: number): Finding {
  if (seconds <= MAX_SEALING_LAG_SECONDS) return { check: 'ledger', found: 'the hash chain is up to date' };
  return problem(
    'ledger',
    `the oldest change that is not sealed is ${Math.round(seconds)} seconds old`,
    `Start the service, which seals it. If it is running, look for "ledger could not be sealed" in its log, and run: ${callOf('verify-ledger')}`,
  );
}

function explainNoDatabase(error: unknown): Finding {
  const code = errorCode(error);
  // The schema, or a table, column or function, does not exist.
  if (['3F000', '42P01', '42703', '42883'].includes(code))
    return problem('database', 'the tables do not exist or belong to another version', 'Start the service once.');
  const { message } = error as Error;
  if (error instanceof StartupError) {
    const [what = '', ...advice] = message.split(/(?<=\.) (?=[A-Z])/);
    return problem('database', what.replace(/\.$/, ''), advice.join(' ') || 'Start the service once.');
  }
  const cause = message || code || 'no response';
  return problem('database', `it cannot be used: ${cause}`, 'Check that it is running, and check DATABASE_URL.');
}
