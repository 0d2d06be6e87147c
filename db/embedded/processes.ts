import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

/** What the system knows about processes. Any of them may exit at any moment. */

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns the command line of a process, or '' if it does not exist. */
export const commandOf = (pid: number): string =>
  process.platform === 'linux'
    ? readIfExists(`/proc/${pid}/cmdline`)
    : spawnSync('ps', ['-ww', '-o', 'args=', '-p', `${pid}`], { encoding: 'utf8' }).stdout;

/** Returns '' for a file that does not exist, because it may be removed at any moment. */
export function readIfExists(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Whether the server has a startup process, which makes the database ready. When that process fails because the disk is full,
 * PostgreSQL (18.4) may keep running without it indefinitely. Where we cannot tell, we assume that it has one.
 */
export const isStarting = (pid: number): boolean => hasChild(pid, /startup/);

/** Whether a client is connected to the server. Where we cannot tell, we assume that one is. */
export const hasClients = (pid: number): boolean => hasChild(pid, /\[local\]/);

function hasChild(pid: number, command: RegExp): boolean {
  try {
    return childrenOf(pid).some((child) => command.test(commandOf(Number(child))));
  } catch {
    return true;
  }
}

function childrenOf(pid: number): string[] {
  if (process.platform === 'linux') {
    return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  }
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid='], { encoding: 'utf8' });
  const processes = stdout.split('\n').map((line) => line.trim().split(/\s+/));
  return processes.flatMap(([child = '', parent]) => (parent === String(pid) ? [child] : []));
}
