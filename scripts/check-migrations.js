// Checks that nodes of the last release can work on the tables of this version: two versions run side by side during an
// update. A migration may add what older nodes do not know. It may not take away or restrict what they use, unless a comment
// above the statement says which earlier migration made that possible: `-- contracts: 0002_fax.sql`. Part of `npm test`.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = new URL('../db/schema/', import.meta.url);

/** Statements that remove or restrict what older nodes may still use, and what each of them does. @type {[RegExp, string][]} */
const CONTRACTIONS = [
  [/^drop (?!index)/, 'removes something'],
  [/^alter table .*\bdrop (column|default|identity|expression)\b/, 'removes a column or its default'],
  [/^alter table .*\bdrop (?!column|constraint|not null|default|identity|expression)"?\w/, 'removes a column'],
  [/^alter \w+ .*\brename\b/, 'renames something'],
  [/^alter table .*\balter( column)? \S+ (set data )?type\b/, 'changes the type of a column'],
  [/^alter type .*\b(drop|alter) attribute\b/, 'changes a type'],
  [/^truncate\b|^revoke\b/, 'removes rows or privileges'],
];

/**
 * Returns a sentence for each statement of a migration that may break older nodes.
 * @param {string} name
 * @param {string} text
 * @param {string[]} earlier the names of the migrations before it
 */
export function checkMigration(name, text, earlier) {
  /** @type {string[]} */
  const errors = [];
  const statements = splitStatements(text);
  const created = new Set(
    statements.flatMap(({ sql }) => /^create table (?:if not exists )?([\w.]+)/.exec(sql)?.[1] ?? []),
  );
  for (const { sql, marker } of statements) {
    const problem = findProblem(sql, statements, created);
    if (marker !== undefined && !earlier.includes(marker))
      errors.push(`${name}: there is no earlier migration ${marker}.`);
    if (problem && marker === undefined)
      errors.push(
        `${name}: "${sql.slice(0, 80)}" ${problem}: nodes of the last release may fail (see CONTRIBUTING.md).`,
      );
  }
  return errors;
}

/**
 * @param {string} sql
 * @param {{ sql: string }[]} statements
 * @param {Set<string>} created
 */
function findProblem(sql, statements, created) {
  const table = /^alter table (?:if exists )?(?:only )?([\w.]+)|^create unique index .*? on (?:only )?([\w.]+)/.exec(
    sql,
  );
  if (created.has(table?.[1] ?? table?.[2] ?? '')) return undefined; // Older nodes don't know the table.
  const known = CONTRACTIONS.find(([pattern]) => pattern.test(sql))?.[1];
  if (known) return known;
  if (
    /^create unique index\b|^alter table .*\badd (constraint|unique|check|foreign key|primary key|exclude)\b/.test(sql)
  )
    return 'restricts rows';
  for (const [, action = ''] of sql.matchAll(/\badd ((?:column )?.*?)(?=, add|$)/g))
    if (/\bnot null\b/.test(action) && !/\b(default|generated)\b/.test(action))
      return 'needs a value that older nodes do not send';
  const [, column] = /\balter(?: column)? (\S+) set not null\b/.exec(sql) ?? [];
  const hasDefault = statements.some(({ sql: other }) => other.includes(`${column} set default `));
  return column && !hasDefault ? 'needs a value that older nodes may not send' : undefined;
}

/** Splits SQL into statements in lower case, without comments, string literals and function bodies. @param {string} text */
function splitStatements(text) {
  const token = /--([^\n]*)|\/\*.*?\*\/|\$(\w*)\$.*?\$\2\$|'(?:[^']|'')*'|;|[^;'$/-]+|./gs;
  /** @type {{ sql: string, marker: string | undefined }[]} */
  const statements = [];
  let sql = '';
  /** @type {string | undefined} */
  let marker;
  const end = () => {
    const plain = sql.replace(/\s+/g, ' ').trim().toLowerCase();
    if (plain) statements.push({ sql: plain, marker });
    sql = '';
    marker = undefined;
  };
  for (const [part, comment] of text.matchAll(token)) {
    if (part === ';') end();
    else if (comment !== undefined) marker = /^\s*contracts: (\S+)\s*$/.exec(comment)?.[1] ?? marker;
    else sql += /^('|\$|\/\*)/.test(part) && part.length > 1 ? ' text ' : part;
  }
  end();
  return statements;
}

/** Checks the migrations of this version. The first one created all tables. */
export function checkMigrations() {
  const names = fs
    .readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort();
  return names
    .slice(1)
    .flatMap((name, index) =>
      checkMigration(name, fs.readFileSync(new URL(name, folder), 'utf8'), names.slice(0, index + 1)),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const errors = checkMigrations();
  for (const error of errors) console.error(error);
  process.exitCode = errors.length > 0 ? 1 : 0;
}
