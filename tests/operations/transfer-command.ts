import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a command of a transfer between installations as a process. */
export const runTransfer = (command: 'export' | 'import' | 'verify-ledger', databaseUrl: string, ...args: string[]) =>
  spawnSync(process.execPath, [fileURLToPath(new URL(`../../server/cli/${command}.js`, import.meta.url)), ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
  });
