import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EmbeddedServer } from '../../db/embedded/cluster.ts';
import { findUser, mayAccess } from '../../db/embedded/runtime-user.ts';
import { parseHosts } from '../../db/hosts.ts';

/** The user that the service runs as after it was started as root. */
export interface ServiceUser {
  uid: number;
  gid: number;
}

/**
 * Returns the user that the service continues as: the one that runs the embedded PostgreSQL, or `nobody`. Returns undefined
 * unless this process is root. If the service cannot run as another user, it keeps running as root and says why.
 */
export function chooseServiceUser(
  embedded: EmbeddedServer | undefined,
  databaseUrl: string,
  print: (line: string) => void,
): ServiceUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = embedded?.runtimeUser ?? findUser('nobody') ?? {};
  const keepRoot = (reason: string) => void print(`  The service keeps running as root: ${reason}`);
  if (uid === undefined || gid === undefined) return keepRoot('this system has no user "nobody".');
  const user = { uid, gid };
  const servers = embedded ? [] : parseHosts(databaseUrl).list.map(({ target }) => new URL(target.url as string));
  for (const server of servers) {
    const socket = socketOf(server);
    // PostgreSQL can ask the system for the user at the other end of a Unix socket.
    if (socket && server.password === '') {
      return keepRoot('DATABASE_URL has no password, so PostgreSQL may identify the service by its user.');
    }
    if (socket && findUnreachable(socket, 0o2, user)) return keepRoot(`user ${uid} cannot connect to ${socket}.`);
  }
  // The embedded PostgreSQL runs as that user already. Without it, try whether a process can: a container may lack the
  // capability, or the user.
  if (!embedded && spawnSync(process.execPath, ['--version'], { ...user, cwd: '/' }).status !== 0) {
    return keepRoot(`it cannot run a process as user ${uid}.`);
  }
  // These are needed later: to replace a worker process, or to read a spreadsheet in a thread.
  const require = createRequire(import.meta.url);
  const files = [process.execPath, fileURLToPath(import.meta.url), require.resolve('fastify/package.json')];
  const unreachable = files.map((file) => findUnreachable(fs.realpathSync(file), 0o4, user)).find(Boolean);
  if (unreachable)
    return keepRoot(`user ${uid} cannot read ${unreachable}. Install Banyan where that user can read it.`);
  return user;
}

/** Returns the Unix socket of a server, if it has one. */
function socketOf({ hostname, port, searchParams }: URL): string | undefined {
  const folder = [searchParams.get('host') ?? '', decodeURIComponent(hostname)].find((name) => name[0] === '/');
  return folder && path.join(folder, `.s.PGSQL.${port || 5432}`);
}

/** Returns the outermost folder on the way to a file that the user cannot enter, or the file if they lack the permission. */
function findUnreachable(file: string, permission: number, { uid, gid }: ServiceUser): string | undefined {
  const folders: string[] = [];
  for (let folder = path.dirname(file); folder !== folders[0]; folder = path.dirname(folder)) folders.unshift(folder);
  const closed = folders.find((folder) => !mayAccess(fs.statSync(folder), 0o1, uid, gid));
  return closed ?? (mayAccess(fs.statSync(file), permission, uid, gid) ? undefined : file);
}

/** Drops root's privileges permanently. The port, the data and the folders for backups have been opened before. */
export function dropPrivileges({ uid, gid }: ServiceUser, print: (line: string) => void): void {
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  print(`  Continuing as user ${uid}, without root's privileges …`);
}
