// Checks the direction of imports between the folders of server/: a folder imports only from folders below it in this list,
// so no two folders import each other. db/ imports nothing from server/. Part of `npm test`.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDERS = [
  'cli',
  'demo',
  'ruoyi-import',
  'process',
  'ruoyi-api',
  'account',
  'oauth',
  'overview',
  'search',
  'entitlements',
  'keys',
  'imports',
  'webhooks',
  'tenants',
  'users',
  'quotas',
  'notices',
  'departments',
  'ledger',
  'access',
  'auth',
  'rate-limits',
  'idempotency',
  'records',
  'spreadsheets',
  'console',
  'health',
  'metrics',
  'tracing',
  'http',
];
/** Files of server/ itself that folders may import. The others assemble the service and start it. */
const SHARED = ['cache.ts', 'config.ts', 'context.ts', 'periodic-job.ts', 'timing.ts', 'version.ts'];
/** The only folders that may import the application: they start it. */
const STARTS_APP = ['process'];

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} file */
const importsOf = (file) =>
  [...fs.readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, specifier]) =>
    path.relative(root, path.resolve(path.dirname(file), /** @type {string} */ (specifier))),
  );

/** Returns a sentence for each import in the wrong direction. */
export function checkImports() {
  /** @type {string[]} */
  const errors = [];
  for (const top of ['server', 'db']) {
    for (const name of fs.readdirSync(path.join(root, top), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const file = path.join(top, name);
      for (const imported of importsOf(path.join(root, file))) {
        const error = checkImport(file.split(path.sep), imported.split(path.sep));
        if (error) errors.push(`${file} imports ${imported}: ${error}.`);
      }
    }
  }
  return errors;
}

/**
 * Returns why a file may not import another one, or undefined if it may.
 *
 * @param {string[]} file
 * @param {string[]} imported
 */
function checkImport([top, folder = '', ...rest], [importedTop, importedFolder = '', ...importedRest]) {
  if (importedTop !== 'server') return top === 'db' && importedTop !== 'db' ? 'db/ imports only from db/' : undefined;
  if (top === 'db') return 'db/ imports nothing from server/';
  // Files of server/ itself may import everything: app.ts and main.ts assemble the service and start it.
  if (rest.length === 0 || folder === importedFolder) return undefined;
  if (importedRest.length === 0) {
    if (SHARED.includes(importedFolder) || (STARTS_APP.includes(folder) && importedFolder === 'app.ts'))
      return undefined;
    return 'only server/process may import the application';
  }
  for (const name of [folder, importedFolder]) {
    if (!FOLDERS.includes(name)) return `server/${name} is missing from the list in scripts/check-imports.js`;
  }
  if (FOLDERS.indexOf(importedFolder) > FOLDERS.indexOf(folder)) return undefined;
  return `server/${importedFolder} is above server/${folder} in the list in scripts/check-imports.js`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const errors = checkImports();
  for (const error of errors) console.error(error);
  process.exitCode = errors.length > 0 ? 1 : 0;
}
