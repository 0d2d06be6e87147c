import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Sql, Target } from '../../db/driver.ts';
import { startEmbedded } from '../../db/embedded/cluster.ts';
import { isAlive } from '../../db/embedded/processes.ts';
import { readServiceLogin } from '../../db/roles.ts';
import { connectWithoutDeadline } from './database.ts';
import { PostgresProxy } from './postgres-proxy.ts';
import { connectTo, killPostgres, newDataFolder, processesIn, usedDataFolder } from './process.ts';
import { waitFor } from './wait.ts';

/** A PostgreSQL server that the service reaches through a separate proxy. */
export class Server {
  readonly dataDir: string;
  readonly proxy: PostgresProxy;
  readonly port: number;
  private readonly superuser: Sql;

  private constructor(dataDir: string, proxy: PostgresProxy, port: number) {
    this.dataDir = dataDir;
    this.proxy = proxy;
    this.port = port;
    this.superuser = connectTo(dataDir);
  }

  static async start(
    dataDir: string,
    settings: Record<string, string>,
  ): Promise<{ server: Server; socketDir: string }> {
    const { socketDir } = await startEmbedded(dataDir, () => {}, undefined, settings);
    const proxy = new PostgresProxy(`${socketDir}/.s.PGSQL.5432`);
    return { server: new Server(dataDir, proxy, await proxy.listen()), socketDir };
  }

  /** Stops or continues all processes. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of processesIn(this.dataDir)) if (isAlive(pid)) process.kill(pid, name);
  }

  /** Kills all processes, as a power failure would. */
  async kill(): Promise<void> {
    await killPostgres(this.dataDir);
    await this.superuser.end({ timeout: 0 });
  }

  async promote(): Promise<void> {
    const [{ promoted }] = await this.superuser<[{ promoted: boolean }]>`select pg_promote(true, 300) as promoted`;
    assert.ok(promoted);
  }

  /** Counts the standbys that this primary waits for. */
  countSynchronousStandbys = async () =>
    (await this.superuser`select application_name from pg_stat_replication where sync_state = 'sync'`).length;

  /** Counts the commits that wait for a synchronous standby, and all connections. */
  async countConnections(): Promise<{ waiting: number; all: number }> {
    const [row] = await this.superuser<[{ waiting: number; all: number }]>`
      select count(*) filter (where wait_event = 'SyncRep') as waiting, count(*) as all
      from pg_stat_activity where backend_type = 'client backend'`;
    return row;
  }
}

export interface Replication {
  primary: Server;
  standby: Server;
  /** The URL of the tables' owner, with both servers. */
  url: string;
  /** The login of the service's role, with both servers. */
  service: Target;
}

/**
 * Starts a primary and a synchronous standby. The standby is a copy of the primary's files from before its start: the
 * binaries from npm do not include pg_basebackup.
 */
export async function startReplication(): Promise<Replication> {
  const primaryDir = await usedDataFolder();
  const standbyDir = newDataFolder();
  assert.equal(spawnSync('cp', ['-pR', primaryDir, standbyDir]).status, 0);
  const password = fs.readFileSync(path.join(primaryDir, 'postgres-password'), 'utf8');
  const { server: primary, socketDir } = await Server.start(primaryDir, { synchronous_standby_names: 'standby' });
  const cluster = path.join(standbyDir, 'postgres');
  const { uid, gid } = fs.statSync(cluster);
  const signal = path.join(cluster, 'standby.signal');
  fs.writeFileSync(signal, '');
  fs.chownSync(signal, uid, gid);
  fs.appendFileSync(
    path.join(cluster, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=${socketDir} user=postgres password=${password} application_name=standby'\n`,
  );
  const { server: standby } = await Server.start(standbyDir, {});
  await waitFor('the standby is synchronous', async () => (await primary.countSynchronousStandbys()) === 1);
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const url = `postgres://banyan:${password}@${hosts}/banyan?target_session_attrs=read-write`;
  const owner = connectWithoutDeadline({ host: socketDir, database: 'banyan', username: 'banyan', password });
  const login = await readServiceLogin(owner);
  await owner.end();
  return { primary, standby, url, service: { url, ...login } };
}
