import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readSchema, type Schema } from '../../db/migrate.ts';
import { newDataFolder, project } from '../support/process.ts';

/** The check that `npm test` runs. Scripts are not compiled, so it is loaded from its folder. */
export const { checkMigration, checkMigrations } = (await import(
  pathToFileURL(path.join(project, 'scripts/check-migrations.js')).href
)) as {
  checkMigration: (name: string, text: string, earlier: string[]) => string[];
  checkMigrations: () => string[];
};

/** The schema of this version with further migrations and functions. */
export function laterSchema(files: Record<string, string>): Schema {
  const folder = newDataFolder();
  fs.cpSync(path.join(project, 'db/schema'), folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text);
  return readSchema(pathToFileURL(`${folder}/`));
}
