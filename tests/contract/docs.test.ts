import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { settings } from '../../server/config.ts';
import { errorCatalog } from '../../server/http/errors.ts';
import { hasEnvelope, operationsOf, readDocument, reasonsIn } from '../support/openapi.ts';
import { shareService } from '../support/service.ts';

// The compiled test runs in dist/tests/contract.
const root = new URL('../../../', import.meta.url);
const read = (path: string) => fs.readFileSync(new URL(path, root), 'utf8');

const documents = [
  ...fs.readdirSync(root).filter((name) => name.endsWith('.md')),
  ...fs
    .readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The cells of the Markdown table with this header row. */
function readTable(path: string, header: string): string[][] {
  const lines = read(path).split('\n');
  const start = lines.indexOf(header);
  assert.notEqual(start, -1, `${path} has no table "${header}"`);
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  return lines.slice(start + 2, start + length).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replace(/\\(.)/g, '$1')),
  );
}

test('the table of error codes matches the code and describes each one (run node scripts/update-error-codes.js)', () => {
  const rows = readTable('docs/interface.md', '| Status | Error code | 中文 | English | When |');
  assert.deepEqual(
    rows.map((row) => row.slice(0, 4)),
    Object.entries(errorCatalog).map(([reason, [status, zh, en]]) => [String(status), `\`${reason}\``, zh, en]),
  );
  assert.deepEqual(
    rows.filter((row) => !row[4]).map((row) => row[1]),
    [],
  );
});

test('the table of settings matches the code', () => {
  assert.deepEqual(
    readTable('README.md', '| Setting | Default | Meaning |'),
    Object.entries(settings).map(([name, setting]) => [
      `\`${name}\``,
      setting.default && `\`${setting.default}\``,
      setting.meaning,
    ]),
  );
});

test('the READMEs contain the commands to start and to test', () => {
  for (const path of ['README.md', 'README.zh-CN.md']) {
    const lines = read(path).split('\n');
    for (const command of ['npm ci && npm start', 'npm ci && npm test']) {
      assert.ok(lines.includes(command), `${path}: ${command}`);
    }
  }
});

/** The anchor that GitHub generates for a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (path: URL) =>
  [...fs.readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));

test('links between the documents are not broken', () => {
  const broken: string[] = [];
  let count = 0;
  for (const document of documents) {
    for (const [, link = ''] of read(document).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      count++;
      const target = new URL(link, new URL(document, root));
      const anchor = decodeURIComponent(target.hash.slice(1));
      const file = new URL(target.pathname, target);
      if (!fs.existsSync(file) || (anchor && !anchorsOf(file).includes(anchor))) broken.push(`${document}: ${link}`);
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(count > 50, `only ${count} links found`);
});

test('the interface document describes every operation and all of its error codes', async () => {
  const service = await shareService();
  const sections = read('docs/interface.md').split(/^(?=##+ )/m);
  const find = (title: string) => sections.find((section) => section.startsWith(title));
  const shared = find('### Errors that any operation can return') ?? '';
  const missing: string[] = [];
  for (const operation of operationsOf(await readDocument(service))) {
    const { method, path, responses } = operation;
    const name = `${method} ${path}`;
    const section =
      find(`### \`${name}\``) ??
      find(`### \`${name.replace('{id}', '{ids}')}\``) ??
      sections.find((text) => text.startsWith('## Health') && text.includes(`\`${name}\``));
    if (!section) missing.push(name);
    if (!hasEnvelope(operation)) continue;
    const reasons = Object.values(responses).flatMap(reasonsIn);
    assert.ok(reasons.length > 0, `${name}: found no reasons in its response schemas`);
    for (const reason of reasons) {
      if (!`${section}${shared}`.includes(`\`${reason}\``)) missing.push(`${name}: ${reason}`);
    }
  }
  assert.deepEqual(missing, []);
});
