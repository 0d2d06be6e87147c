// Writes the table of reasons in docs/interface.md anew, from server/http/refusals.ts: node scripts/reasons.js
// Status, reason and both texts are the code's. The last column, when, is the document's own and stays.
import fs from 'node:fs';
import { build } from './build.js';

build();
const { reasons } = await import('../dist/server/http/refusals.js');

const file = new URL('../docs/interface.md', import.meta.url);
const document = fs.readFileSync(file, 'utf8');
const [, before, table, after] = /^(.*<!-- reasons -->\n)(.*)(<!-- end of reasons -->.*)$/s.exec(document) ?? [];
if (table === undefined) throw new Error('docs/interface.md has lost its two markers around the table of reasons.');

/** @type {Map<string, string>} */
const when = new Map();
for (const [, reason, text] of table.matchAll(/^\| \d+ \| `(\w+)` \|.*\| ([^|]*) \|$/gm)) when.set(reason, text);

const rows = Object.entries(reasons).map(
  ([reason, [status, zh, en]]) =>
    `| ${status} | \`${reason}\` | ${plain(zh)} | ${plain(en)} | ${when.get(reason) ?? ''} |\n`,
);
const head = '| Status | Reason | 中文 | English | When |\n|---|---|---|---|---|\n';
fs.writeFileSync(file, `${before}${head}${rows.join('')}${after}`);
const open = Object.keys(reasons).filter((reason) => !when.get(reason));
console.log(open.length > 0 ? `Written. Say when, for: ${open.join(', ')}` : 'Written.');

/** @param {string} text Markdown would take these characters for its own. */
function plain(text) {
  return text.replace(/[<_*|]/g, '\\$&');
}
