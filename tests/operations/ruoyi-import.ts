import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { connectSourceDatabase } from '../../db/driver.ts';
import { importRuoyi } from '../../server/cli/import-ruoyi-command.ts';
import { afterFile } from '../support/cleanup.ts';
import { createEmptyDatabase, NO_DEADLINES } from '../support/database.ts';
import { generateRuoyi, RUOYI_PASSWORD, type RuoyiDatabase, ruoyiHash } from '../support/ruoyi.ts';
import { firstSeed, scale } from '../support/scale.ts';
import { withDefects } from './ruoyi-defects.ts';

/** Runs npm run import-ruoyi on generated data. */

/** The hash of the password of all users. RuoYi itself uses a cost of 10. */
export const hash = await ruoyiHash(RUOYI_PASSWORD, scale(4, 10));

export async function createPostgres(): Promise<RuoyiDatabase> {
  const { databaseUrl } = await createEmptyDatabase();
  const sql = connectSourceDatabase(databaseUrl, NO_DEADLINES);
  return { url: databaseUrl, run: (statement) => sql.unsafe(statement), close: () => sql.end() };
}

const size = {
  ...{ tenants: scale(5, 50), departments: scale(60, 10_000), users: scale(40, 20_000) },
};
export const generated = (leader: 'text' | 'id') =>
  withDefects(generateRuoyi(size, { seed: firstSeed, password: hash, leader }), { leader, password: hash });

/** Returns a function that runs the command in this process, because starting Node.js is slow, and the folder of its reports. */
export function importerOf(ownDatabaseUrl: string) {
  const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-ruoyi-'));
  afterFile(() => fs.rmSync(reports, { recursive: true, force: true }));
  let runs = 0;
  const readFrom = (folder: string, name: string) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
  const run = async (from: RuoyiDatabase, args: string[] = [], databaseUrl = ownDatabaseUrl) => {
    const lines: string[] = [];
    const folder = path.join(reports, String(++runs));
    const status = await importRuoyi(['--from', from.url, '--report', folder, ...args], {
      environment: { DATABASE_URL: databaseUrl },
      print: (line) => void lines.push(line),
    });
    return {
      status,
      output: lines.join('\n'),
      report: () => readFrom(folder, 'report.json'),
      roles: () => readFrom(folder, 'roles.json'),
    };
  };
  return { run, reports };
}
