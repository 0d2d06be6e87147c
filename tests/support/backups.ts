import fs from 'node:fs';
import path from 'node:path';
import { type Manifest, readManifest } from '../../db/backup/manifest.ts';
import type { Sql } from '../../db/driver.ts';
import { runBackup } from '../../server/cli/backup-command.ts';
import { runRestore } from '../../server/cli/restore-command.ts';
import { launch, newDataFolder, project, type Run } from './process.ts';
import type { Client } from './service.ts';
import { waitFor } from './wait.ts';

/** Starts `npm run backup` or `npm run restore` on a data folder. */
export const startTool = (name: 'backup' | 'restore', dataDir: string, args: string[], environment = {}): Run =>
  launch([path.join(project, `dist/server/cli/${name}.js`), ...args], {
    cwd: path.dirname(dataDir),
    env: { BANYAN_DATA_DIR: dataDir, ...environment },
  });

export async function runTool(name: 'backup' | 'restore', dataDir: string, args: string[], environment = {}) {
  const run = startTool(name, dataDir, args, environment);
  return { status: await run.ended, stderr: run.stderr };
}

const COMMANDS = { backup: runBackup, restore: runRestore };

/** Does what `runTool` does, but in this process, because starting Node.js is slow. The signal interrupts the command. */
export async function callTool(
  name: 'backup' | 'restore',
  dataDir: string,
  args: string[],
  environment = {},
  signal = new AbortController().signal,
) {
  const lines: string[] = [];
  const status = await COMMANDS[name](args, {
    environment: { BANYAN_DATA_DIR: dataDir, ...environment },
    print: (line) => void lines.push(line),
    signal,
  });
  return { status, stderr: lines.join('\n') };
}

/** Returns the path of a folder that does not exist, in a new folder that PostgreSQL's user may enter. */
export function newFolder(name: string): string {
  const parent = path.dirname(newDataFolder());
  fs.chmodSync(parent, 0o755);
  return path.join(parent, name);
}

export const manifestOf = (folder: string): Manifest => readManifest(folder) as Manifest;

export async function departmentNames(client: Client): Promise<Set<string>> {
  const names = new Set<string>();
  for (let pageNum = 1; ; pageNum++) {
    const { data, text } = await client.get(`/system/dept-api/list?pageNum=${pageNum}&pageSize=500`);
    if (!data?.rows) throw new Error(text);
    for (const { deptName } of data.rows) names.add(deptName);
    if (data.rows.length < 500) return names;
  }
}

/** Returns a time in whole seconds, after everything that was written so far and before everything that is written later. */
export async function nextSecond(sql: Sql): Promise<string> {
  const read = async () => {
    const [{ now }] = await sql<[{ now: Date }]>`select clock_timestamp() as now`;
    return now.getTime();
  };
  const time = Math.ceil(((await read()) + 1) / 1000) * 1000;
  await waitFor('the second has passed', async () => (await read()) > time);
  return new Date(time).toISOString().replace('.000', '');
}
