// Regenerates the table of error codes in docs/interface.md from server/http/errors: node scripts/update-error-codes.js
// The code defines status, error code and both texts. The last column, "When", is written by hand and is kept.
import fs from 'node:fs';
import { build } from './build.js';

build();
const { errorCatalog } = await import('../dist/server/http/errors.js');

const file = new URL('../docs/interface.md', import.meta.url);
const document = fs.readFileSync(file, 'utf8');
const [, before, table, after] =
  /^(.*<!-- error codes -->\n)(.*)(<!-- end of error codes -->.*)$/s.exec(document) ?? [];
if (table === undefined)
  throw new Error('docs/interface.md does not contain the two markers around the table of error codes.');

/** @type {Map<string, string>} */
const when = new Map();
for (const [, reason, text] of table.matchAll(/^\| \d+ \| `(\w+)` \|.*\| ([^|]*) \|$/gm)) when.set(reason, text);

const rows = Object.entries(errorCatalog).map(
  ([reason, [status, zh, en]]) =>
    `| ${status} | \`${reason}\` | ${escapeMarkdown(zh)} | ${escapeMarkdown(en)} | ${when.get(reason) ?? ''} |\n`,
);
const head = '| Status | Error code | 中文 | English | When |\n|---|---|---|---|---|\n';
fs.writeFileSync(file, `${before}${head}${rows.join('')}${after}`);
const missing = Object.keys(errorCatalog).filter((reason) => !when.get(reason));
console.log(missing.length > 0 ? `Written. Fill in "When" for: ${missing.join(', ')}` : 'Written.');

/** Escapes the characters that have a meaning in Markdown. @param {string} text */
function escapeMarkdown(text) {
  return text.replace(/[<_*|]/g, '\\$&');
}
