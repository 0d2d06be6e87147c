import { type ChildProcess, execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterFile } from '../support/cleanup.ts';
import type { Client, Service } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The programs of examples/, run as processes. */

// The compiled test runs in dist/tests/operations.
export const compiled = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
export const source = (name: string) => fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));
export const run = promisify(execFile);

export function exampleFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-examples-'));
  afterFile(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** Returns a function that creates a key of a tenant, and the environment in which the examples use it. */
export const keysOf =
  ({ base }: Service) =>
  async (admin: Client, permissions: string[]): Promise<{ keyId: number; env: Record<string, string> }> => {
    const { data } = await admin.post('/system/key-api', { keyName: 'example', permissions });
    return { keyId: data.keyId, env: { PATH: process.env.PATH ?? '', BANYAN_URL: base, BANYAN_KEY: data.key } };
  };

/** Starts an example that runs until it is killed, and collects the lines that it prints. */
export function start(
  name: string,
  args: string[],
  env: Record<string, string>,
): { lines: string[]; child: ChildProcess } {
  const child = spawn(process.execPath, [compiled(name), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  afterFile(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
      lines.splice(0, lines.length, ...text.split('\n').slice(0, -1));
    });
  }
  return { lines, child };
}

export const waitForAddress = async (lines: string[]): Promise<string> => {
  const line = await waitFor('the example listens', () => lines.find((text) => text.includes('Listening on ')));
  return line.slice('Listening on '.length);
};
