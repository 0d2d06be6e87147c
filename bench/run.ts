import fs from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { startCrowd } from './crowd.ts';
import { type Measure, met, type Result, type Scene, type Tenant } from './measure.ts';
import { history } from './measures/history.ts';
import { logins } from './measures/logins.ts';
import { moves } from './measures/moves.ts';
import { memory, starts } from './measures/process.ts';
import { reads } from './measures/reads.ts';
import { drawSizes } from './measures/sizes.ts';
import { manyTenants } from './measures/tenants.ts';
import { trees } from './measures/trees.ts';
import { workers } from './measures/workers.ts';
import { creates, ledger } from './measures/writes.ts';
import { fillTenant } from './organization.ts';
import { makePlace, makeTenant, type Place, type Process, startService } from './services.ts';

/**
 * npm run bench                     all figures, written to bench/RESULTS.md
 * npm run bench -- reads creates    only these, to the terminal
 * npm run bench -- --rounds 3       three rounds of each instead of five
 * npm run bench -- --quick          one short round of each, to the terminal
 */
const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean' }, rounds: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const measures: Record<string, Measure> = {
  reads,
  creates,
  ledger,
  moves,
  trees,
  history,
  logins,
  manyTenants,
  workers,
  starts,
  memory,
};
const unknown = positionals.filter((name) => !(name in measures));
if (unknown.length > 0) {
  process.stderr.write(`There is no measure ${unknown.join(', ')}: there are ${Object.keys(measures).join(', ')}.\n`);
  process.exit(2);
}
const wanted = Object.entries(measures).filter(([name]) => positionals.length === 0 || positionals.includes(name));
const LARGE = 1_000_000;
/** Only then it is written down. */
const isWhole = !values.quick && positionals.length === 0;

const say = (line: string) => process.stderr.write(`${line}\n`);

async function makeScene(place: Place, service: Process): Promise<Scene> {
  const fill = async (firstId: number, count: number): Promise<Tenant> => {
    say(`  a tenant of ${count} departments is made …`);
    const tenant = await makeTenant(service.base);
    await fillTenant(place.superuser, tenant.tenantId, firstId, count);
    return { ...tenant, firstId, count };
  };
  return {
    place,
    service,
    crowd: startCrowd(),
    small: await fill(1_000_000, 1_000),
    large: await fill(2_000_000, LARGE),
    writing: await fill(9_000_000, 1_000),
    rounds: values.quick ? 1 : Math.max(3, Number(values.rounds)),
    ms: values.quick ? 1_000 : 4_000,
    progress: (words) => say(`  ${words} …`),
  };
}

function shown(result: Result): string {
  const {
    what,
    figure,
    unit,
    goal,
    spread: [least, most],
    notes,
  } = result;
  const limit = 'least' in goal ? `at least ${goal.least}` : `at most ${goal.most}`;
  const verdict = met(result) ? 'met' : '**not met**';
  const number = (n: number) => (n >= 100 ? n.toFixed(0) : n.toFixed(2));
  return `| ${what} | **${number(figure)}** ${unit} | ${number(least)} – ${number(most)} | ${limit} | ${verdict} | ${notes} |`;
}

const place = await makePlace();
const service = await startService(place.databaseUrl, { BANYAN_ACCESS_TOKEN_SECONDS: '86400' });
const results: Result[] = [];
let scene: Scene | undefined;
let picture = '';
try {
  scene = await makeScene(place, service);
  for (const [name, measure] of wanted) {
    try {
      for (const result of await measure(scene)) {
        say(shown(result));
        results.push(result);
      }
    } catch (error) {
      // What fails a check has no figure, and says so.
      say(`${name} has no figure: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
  if (isWhole) picture = await drawSizes(scene);
} finally {
  scene?.crowd.stop();
  await service.stop();
  await place.close();
}
if (isWhole && process.exitCode !== 1) {
  const [cpu] = os.cpus();
  const machine = `${os.cpus().length} × ${cpu?.model.trim()}, ${Math.round(os.totalmem() / 2 ** 30)} GB, Node ${process.version}`;
  const lines = [
    '# Results',
    '',
    `${new Date().toISOString().slice(0, 10)}, ${machine}, load average before the end ${os.loadavg()[0]?.toFixed(1)}.`,
    `Written by \`npm run bench\`, ${scene?.rounds} rounds; [README.md](README.md) says what each figure means.`,
    '',
    '| Measure | Median | Spread | Goal | | Seen |',
    '|---|---|---|---|---|---|',
    ...results.map(shown),
    '',
    '![Cost against size](cost.svg)',
    '',
  ];
  fs.writeFileSync('bench/RESULTS.md', lines.join('\n'));
  fs.writeFileSync('bench/cost.svg', picture);
}
process.exit();
