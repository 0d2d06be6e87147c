import fs from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { startLoadGenerator } from './load-generator.ts';
import { type Context, isGoalMet, type Measure, type Result, type Tenant } from './measure.ts';
import { capacity } from './measures/capacity.ts';
import { history } from './measures/history.ts';
import { keys } from './measures/keys.ts';
import { logins } from './measures/logins.ts';
import { metrics } from './measures/metrics.ts';
import { moves } from './measures/moves.ts';
import { neighbours } from './measures/neighbours.ts';
import { pauses } from './measures/pauses.ts';
import { memory, starts } from './measures/process.ts';
import { quotaHistory, quotaHot, quotaKeys, quotaSpread } from './measures/quotas.ts';
import { reads } from './measures/reads.ts';
import { search } from './measures/search.ts';
import { drawSizes } from './measures/sizes.ts';
import { manyTenants } from './measures/tenants.ts';
import { trees } from './measures/trees.ts';
import { workers } from './measures/workers.ts';
import { creates, ledger } from './measures/writes.ts';
import { fillTenant } from './organization.ts';
import { type BenchDatabase, createTenant, type Process, startDatabase, startService } from './services.ts';

/**
 * npm run bench                     runs all measures and writes bench/RESULTS.md
 * npm run bench -- reads creates    runs only these and prints their results
 * npm run bench -- --rounds 3       runs three rounds of each instead of five
 * npm run bench -- --quick          runs one short round of each and prints the results
 * npm run bench -- neighbours --floods lists,trees   runs only these floods of noisy neighbours
 */
const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean' }, rounds: { type: 'string', default: '5' }, floods: { type: 'string' } },
  allowPositionals: true,
});
const measures: Record<string, Measure> = {
  reads,
  keys,
  creates,
  ledger,
  capacity,
  quotaHot,
  quotaKeys,
  quotaSpread,
  quotaHistory,
  moves,
  trees,
  search,
  pauses,
  history,
  logins,
  manyTenants,
  workers,
  metrics,
  neighbours,
  starts,
  memory,
};
const unknown = positionals.filter((name) => !(name in measures));
if (unknown.length > 0) {
  process.stderr.write(`Unknown measure: ${unknown.join(', ')}. Available: ${Object.keys(measures).join(', ')}.\n`);
  process.exit(2);
}
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) {
  process.stderr.write('--rounds must be a positive integer.\n');
  process.exit(2);
}
const selected = Object.entries(measures).filter(([name]) => positionals.length === 0 || positionals.includes(name));
const LARGE_COUNT = 1_000_000;
/** Only a complete run is written to RESULTS.md. */
const isComplete = !values.quick && positionals.length === 0 && !values.floods;

const print = (line: string) => process.stderr.write(`${line}\n`);

async function createContext(database: BenchDatabase, service: Process): Promise<Context> {
  const fill = async (firstId: number, count: number): Promise<Tenant> => {
    print(`  creating a tenant with ${count} departments …`);
    const tenant = await createTenant(service.base);
    await fillTenant(database.superuser, tenant.tenantId, firstId, count);
    return { ...tenant, firstId, count };
  };
  return {
    database,
    service,
    load: startLoadGenerator(),
    small: await fill(1_000_000, 1_000),
    large: await fill(2_000_000, LARGE_COUNT),
    writing: await fill(9_000_000, 1_000),
    rounds: values.quick ? 1 : rounds,
    ms: values.quick ? 1_000 : 4_000,
    floods: values.floods?.split(','),
    progress: (message) => print(`  ${message} …`),
  };
}

function formatRow(result: Result): string {
  const {
    name,
    figure,
    unit,
    goal,
    range: [least, most],
    notes,
  } = result;
  const limit = 'least' in goal ? `at least ${goal.least}` : `at most ${goal.most}`;
  const verdict = isGoalMet(result) ? 'met' : '**not met**';
  const number = (n: number) => (n >= 100 ? n.toFixed(0) : n.toFixed(2));
  return `| ${name} | **${number(figure)}** ${unit} | ${number(least)} – ${number(most)} | ${limit} | ${verdict} | ${notes} |`;
}

const database = await startDatabase();
const service = await startService(database.databaseUrl, { BANYAN_ACCESS_TOKEN_SECONDS: '86400' });
const results: Result[] = [];
let context: Context | undefined;
let chart = '';
try {
  context = await createContext(database, service);
  for (const [name, measure] of selected) {
    try {
      for (const result of await measure(context)) {
        print(formatRow(result));
        results.push(result);
      }
    } catch (error) {
      // A measure that fails a check has no figure.
      print(`${name} has no figure: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
  if (isComplete) chart = await drawSizes(context);
} finally {
  context?.load.stop();
  await service.stop();
  await database.close();
}
if (isComplete && process.exitCode !== 1) {
  const [cpu] = os.cpus();
  const machine = `${os.cpus().length} × ${cpu?.model.trim()}, ${Math.round(os.totalmem() / 2 ** 30)} GB, Node ${process.version}`;
  const lines = [
    '# Results',
    '',
    `${new Date().toISOString().slice(0, 10)}, ${machine}, load average at the end ${os.loadavg()[0]?.toFixed(1)}.`,
    `Written by \`npm run bench\` with ${context?.rounds} rounds. [README.md](README.md) explains the figures.`,
    '',
    '| Measure | Median | Range | Goal | | Measured values |',
    '|---|---|---|---|---|---|',
    ...results.map(formatRow),
    '',
    '![Cost by size of the tenant](cost.svg)',
    '',
  ];
  fs.writeFileSync('bench/RESULTS.md', lines.join('\n'));
  fs.writeFileSync('bench/cost.svg', chart);
}
process.exit();
