import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import { DURATIONS, scrape } from '../support/metrics.ts';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The documentation of metrics, the alert rules and the dashboard, compared with what a running service exposes. */

const file = (path: string) => new URL(`../../../${path}`, import.meta.url);
const read = (path: string) => fs.readFileSync(file(path), 'utf8');
const RULES = 'deploy/prometheus/alerts.yml';

const { base, root, anonymous } = await startService({ BANYAN_METRICS: '1' });
const id = await root.createDepartment();
await root.get(`/system/dept-api/${id}`);
await anonymous.get('/no-such-path');
const scraped = await waitFor('requests are counted', async () => {
  const result = await scrape(base);
  return result.sum(`${DURATIONS}_count`, { http_route: 'unmatched' }) ? result : undefined;
});

test('the table of metrics lists exactly those that the service exposes, with their types and labels', () => {
  const rows = [...read('docs/operations.md').matchAll(/^\| `(\w+)` \| (gauge|counter|histogram) \| (.*?) ?\| /gm)];
  const documented = new Map(
    rows.map(([, name = '', type = '', labels = '']) => [name, { type, labels: labels.match(/\w+/g) ?? [] }]),
  );
  const exposed = [...scraped.types].map(([name, type]) => `${name} ${type}`).sort();
  assert.deepEqual([...documented].map(([name, { type }]) => `${name} ${type}`).sort(), exposed);
  for (const [name, { labels }] of documented) {
    // A metric with labels has no series before the first event.
    if (scraped.samples.some((sample) => sample.name.startsWith(name) && Object.keys(sample.labels).length > 0)) {
      assert.deepEqual(labels, scraped.labelsOf(name).length > 0 ? scraped.labelsOf(name) : labels, name);
    }
  }
});

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

const dashboard = JSON.parse(read('deploy/grafana/banyan.json')) as { panels: Panel[] };
const panelExpressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
/** The expressions of the rules: the rest of the line, or the indented lines after `|`. */
const ruleExpressions = [...read(RULES).matchAll(/^ {8}expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/gm)].map(
  ([, block, line]) => (block ?? line) as string,
);

const LABELS_OF_PROMETHEUS = ['job', 'instance', 'le'];
const names = new Set([...scraped.samples.map(({ name }) => name), ...scraped.types.keys(), 'up']);
for (const [name, type] of scraped.types)
  if (type === 'histogram') names.add(`${name}_bucket`).add(`${name}_sum`).add(`${name}_count`);
const documentedLabels = new Set(
  [...read('docs/operations.md').matchAll(/^\| `\w+` \| (?:gauge|counter|histogram) \| (.*?) ?\| /gm)].flatMap(
    ([, labels = '']) => labels.match(/\w+/g) ?? [],
  ),
);

/** Returns what an expression names that the service does not expose. */
function unknownIn(expression: string): string[] {
  const selectors = [...expression.matchAll(/\{([^}]*)\}/g)].map(([, text = '']) =>
    text.replace(/"(?:[^"\\]|\\.)*"/g, ''),
  );
  const groupings = [...expression.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].map(
    ([, text = '']) => text,
  );
  const labels = [...selectors, ...groupings].flatMap((text) => text.match(/[a-zA-Z_]\w*/g) ?? []);
  const rest = expression
    .replace(/\{[^}]*\}/g, '')
    .replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, '')
    .replace(/\$\w+|"[^"]*"/g, '');
  const metrics = [...rest.matchAll(/(?<![\w:])[a-zA-Z_:][\w:]*(?!\w)(?!\s*\()/g)].map(([name]) => name);
  assert.ok(metrics.length > 0, expression);
  return [
    ...metrics.filter((name) => !names.has(name)),
    ...labels.filter((label) => !documentedLabels.has(label) && !LABELS_OF_PROMETHEUS.includes(label)),
  ];
}

test('the alert rules use only metrics and labels that the service exposes', () => {
  assert.equal(ruleExpressions.length, [...read(RULES).matchAll(/- alert:/g)].length);
  for (const expression of ruleExpressions) assert.deepEqual(unknownIn(expression), [], expression);
});

test('the dashboard uses only metrics and labels that the service exposes, and all metrics of Banyan', () => {
  assert.ok(panelExpressions.length > 20);
  for (const expression of panelExpressions) assert.deepEqual(unknownIn(expression), [], expression);
  const all = panelExpressions.join(' ');
  const missing = [...scraped.types.keys()].filter((name) => /^(banyan|http)_/.test(name) && !all.includes(name));
  assert.deepEqual(missing, []);
});

test('the check of expressions finds unknown metrics and labels', () => {
  assert.deepEqual(unknownIn('sum(rate(banyan_typo_total[5m])) > 1'), ['banyan_typo_total']);
  assert.deepEqual(unknownIn('sum by (tenant) (banyan_workers{user="a"})'), ['user', 'tenant']);
});

const promtool = spawnSync('promtool', ['--version']).status === 0;
const options = { skip: promtool ? false : 'promtool is not installed (Debian: apt install prometheus)' };

test('promtool accepts the metrics of a running service', options, () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: scraped.text,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
});

test('promtool accepts the alert rules', options, () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file(RULES).pathname], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
});

test('promtool: the alerts fire when they should, and not before', options, () => {
  const tests = file('deploy/prometheus/alerts.test.yml').pathname;
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', tests], { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
});
