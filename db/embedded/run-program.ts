import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { StartupError } from '../startup-error.ts';
import type { OpenFolder, RuntimeUser } from './runtime-user.ts';

/** The path by which a program that `runProgram` starts reaches the n-th of its folders. */
export const pathInProgram = ({ path, descriptor }: OpenFolder, n: number): string =>
  descriptor === undefined ? path : `/proc/self/fd/${3 + n}`;

/**
 * Runs one of PostgreSQL's programs on a folder. `args` gets the path by which the program can reach that folder. If the
 * program fails, the error contains its output.
 */
export async function runProgram(
  runtimeUser: RuntimeUser,
  program: 'initdb' | 'pg_ctl',
  [folder, ...otherFolders]: [OpenFolder, ...OpenFolder[]],
  args: (folder: string) => string[],
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  // Detached, in a process group of its own: Ctrl-C in a terminal must reach only us; we then shut PostgreSQL down.
  const options: SpawnOptions = { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, detached: true };
  if (runtimeUser.uid !== undefined && runtimeUser.gid !== undefined) {
    Object.assign(options, { uid: runtimeUser.uid, gid: runtimeUser.gid });
  }
  // The server and all its processes inherit the descriptors.
  const descriptors = [folder, ...otherFolders].map(({ descriptor }) => descriptor ?? 'ignore');
  options.stdio = ['ignore', 'pipe', 'pipe', ...descriptors];
  const child = spawn(path.join(runtimeUser.binDir, program), args(pathInProgram(folder, 0)), options);
  const kill = () => void (child.exitCode === null && child.pid && process.kill(-child.pid, 'SIGTERM'));
  signal?.addEventListener('abort', kill);
  try {
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
    const outputEnded = new Promise((resolve) => child.once('close', resolve));
    // Wait for 'exit', not 'close': the server that pg_ctl starts keeps the pipes open.
    const [code] = await once(child, 'exit').catch((error) => {
      throw new StartupError(`PostgreSQL's ${program} can't be run: ${error.message}`);
    });
    if (code === 0) return;
    signal?.throwIfAborted();
    await Promise.race([outputEnded, setTimeout(1000)]); // The last output may arrive after the exit.
    throw new StartupError(
      `PostgreSQL's ${program} failed on ${runtimeUser.clusterDir}: ${output.trim()}${readLogTail(folder.path)}`,
    );
  } finally {
    signal?.removeEventListener('abort', kill);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** Returns the end of PostgreSQL's log, for a message, or ''. */
export function readLogTail(clusterDir: string): string {
  try {
    const folder = path.join(clusterDir, 'log');
    const newest = fs
      .readdirSync(folder)
      .map((name) => path.join(folder, name))
      .sort((a, b) => fs.statSync(b).mtimeMs - fs.statSync(a).mtimeMs)[0];
    return newest ? `\nThe end of PostgreSQL's log ${newest}:\n${fs.readFileSync(newest, 'utf8').slice(-600)}` : '';
  } catch {
    return '';
  }
}
