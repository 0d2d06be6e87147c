import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterFile } from './cleanup.ts';
import { connectWithoutDeadline, testFolder } from './database.ts';
import { freePorts } from './ports.ts';
import { project } from './process.ts';
import { waitFor } from './wait.ts';

/** A PostgreSQL server that Patroni manages. */
export interface Member {
  name: string;
  /** The port of PostgreSQL. */
  port: number;
  isPrimary(): Promise<boolean>;
  /** Sends a signal to Patroni and to all processes of its PostgreSQL. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Starts Patroni, which starts PostgreSQL. */
  start(): void;
}

const PROGRAMS = { patroni: 'patroni', etcd: 'etcd-server', haproxy: 'haproxy', pgbouncer: 'pgbouncer' };
const SEARCH_PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;

/** Returns why a cluster cannot be started, such as the packages to install, or ''. */
export function reasonToSkip(): string {
  const isInstalled = (program: string) =>
    SEARCH_PATH.split(':').some((folder) => fs.existsSync(path.join(folder, program)));
  const missing = Object.entries(PROGRAMS).filter(([program]) => !isInstalled(program));
  if (!fs.existsSync('/usr/lib/postgresql/15/bin/postgres')) missing.push(['postgres', 'postgresql-15']);
  if (process.getuid?.() !== 0) return 'run it as root, so that it can start the programs as the user postgres';
  return missing.length > 0 ? `install ${missing.map(([, debianPackage]) => debianPackage).join(', ')}` : '';
}

/** Whether the installed Patroni is older than this version. */
export function isPatroniBefore(...version: [major: number, minor: number, patch: number]): boolean {
  const { stdout } = spawnSync('patroni', ['--version'], { encoding: 'utf8' });
  const installed =
    /(\d+)\.(\d+)\.(\d+)/
      .exec(stdout ?? '')
      ?.slice(1)
      .map(Number) ?? version;
  const differing = version.findIndex((part, n) => part !== installed[n]);
  return differing >= 0 && (installed[differing] as number) < (version[differing] as number);
}

/** Reads a sample from deploy/patroni and replaces the values that differ on this machine. */
function sample(name: string, replacements: [string | RegExp, string][]): string {
  let text = fs.readFileSync(path.join(project, 'deploy/patroni', name), 'utf8');
  for (const [from, to] of replacements) text = text.replaceAll(from as string, to);
  return text;
}

const statusOf = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    ({ status }) => status,
    () => 0,
  );

const readJson = async <T extends object>(url: string): Promise<Partial<T>> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return (await response.json()) as T;
  } catch {
    return {};
  }
};

/** Starts etcd, two PostgreSQL servers under Patroni, HAProxy and PgBouncer, from the samples in deploy/patroni. */
export async function startPatroni() {
  const folder = fs.mkdtempSync(path.join(testFolder(), 'patroni-'));
  const id = (option: string) => Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout);
  const [uid, gid] = [id('-u'), id('-g')];
  fs.chownSync(folder, uid, gid);
  const children = new Set<ChildProcess>();
  const run = (program: string, args: string[], env: Record<string, string> = {}) => {
    const output = fs.openSync(path.join(folder, `${program}.log`), 'a');
    const child = spawn(program, args, {
      cwd: folder,
      uid,
      gid,
      detached: true,
      env: { PATH: SEARCH_PATH, HOME: folder, ...env },
      stdio: ['ignore', output, output],
    });
    fs.closeSync(output);
    children.add(child);
    return child;
  };
  const processes = () =>
    spawnSync('ps', ['-u', 'postgres', '-o', 'pid=,pgid=,args='], { encoding: 'utf8' }).stdout.split('\n');
  /** Returns the processes that work in a folder or below it, or that name it on their command line. */
  const processesBelow = (below: string) =>
    processes().flatMap((line) => {
      const pid = Number.parseInt(line, 10);
      try {
        return line.includes(below) || fs.readlinkSync(`/proc/${pid}/cwd`).startsWith(below) ? [pid] : [];
      } catch {
        return [];
      }
    });
  const signalAll = (pids: number[], name: NodeJS.Signals) => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // The process has already exited.
      }
    }
  };
  afterFile(async () => {
    await waitFor('the cluster is gone', () => {
      const pids = processesBelow(folder);
      signalAll(pids, 'SIGKILL');
      return pids.length === 0;
    });
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  });

  const [client, peer, proxy, pooler, ...memberPorts] = await freePorts(8);
  const urls = { client: `http://127.0.0.1:${client}`, peer: `http://127.0.0.1:${peer}` };
  run(
    'etcd',
    [
      '--data-dir',
      `${folder}/etcd`,
      '--listen-client-urls',
      urls.client,
      '--advertise-client-urls',
      urls.client,
    ].concat(
      ['--listen-peer-urls', urls.peer, '--initial-advertise-peer-urls', urls.peer],
      ['--initial-cluster', `default=${urls.peer}`],
    ),
    { ETCD_UNSUPPORTED_ARCH: process.arch },
  );
  const members: (Member & { api: number; restartPatroni(): void })[] = [];
  for (const name of ['pg1', 'pg2']) {
    const [port, api] = memberPorts.splice(0, 2) as [number, number];
    const dataDir = `${folder}/${name}`;
    const file = `${folder}/${name}.yml`;
    fs.writeFileSync(
      file,
      sample('patroni.yml', [
        ['pg1:2379,pg2:2379,pg3:2379', `127.0.0.1:${client}`],
        ['0.0.0.0:8008', `127.0.0.1:${api}`],
        ['pg1:8008', `127.0.0.1:${api}`],
        ['0.0.0.0:5432', `127.0.0.1:${port}`],
        ['pg1:5432', `127.0.0.1:${port}`],
        ['name: pg1', `name: ${name}`],
        ['/var/lib/postgresql/15/banyan', dataDir],
        [/^ {2}bin_dir: .*$/gm, `$&\n  parameters: { unix_socket_directories: ${folder} }`],
      ]),
    );
    fs.chownSync(file, uid, gid);
    const member = {
      name,
      port,
      api,
      isPrimary: async () => (await statusOf(`http://127.0.0.1:${api}/primary`)) === 200,
      signal: (signal: NodeJS.Signals) => signalAll([...processesBelow(file), ...processesBelow(dataDir)], signal),
      start: () => void run('patroni', [file]),
      restartPatroni() {
        signalAll(processesBelow(file), 'SIGKILL');
        member.start();
      },
    };
    members.push(member);
    member.start();
  }
  const isSynchronous = async () => {
    // A member that has just been frozen or killed does not answer.
    const { members: all = [] } = await readJson<{ members?: { role: string }[] }>(
      `http://127.0.0.1:${members[0]?.api}/cluster`,
    );
    return all.some(({ role }) => role === 'leader') && all.some(({ role }) => role === 'sync_standby');
  };
  const readLog = () => fs.readFileSync(path.join(folder, 'patroni.log'), 'utf8');
  const primary = async () => {
    for (const member of members) if (await member.isPrimary()) return member;
    return undefined;
  };
  /** Patroni also prints a stack trace for each health check of HAProxy, which closes its connection early. */
  const isEvent = (line: string) => /\b(INFO|ERROR|LOG|FATAL): /.test(line);
  /** Describes what a server knows about replication, for the error after a timeout. */
  const describeReplication = async ({ name, port, api }: { name: string; port: number; api: number }) => {
    const sql = connectWithoutDeadline({ url: `postgres://postgres:change-me@127.0.0.1:${port}/postgres` });
    const state = await Promise.race([
      sql`
        select pg_is_in_recovery() as standby, current_setting('synchronous_standby_names') as synchronous,
          (select json_agg(json_build_array(application_name, state, sync_state)) from pg_stat_replication) as replication,
          (select json_object_agg(wait, n) from (
            select coalesce(wait_event, 'none') as wait, count(*) as n from pg_stat_activity
            where backend_type = 'client backend' group by 1) as waits) as clients`.catch(String),
      setTimeout(10_000, 'no response', { ref: false }),
    ]);
    void sql.end({ timeout: 0 });
    const cluster = await readJson(`http://127.0.0.1:${api}/cluster`);
    return `${name}: ${JSON.stringify(state)}, cluster: ${JSON.stringify(cluster)}`;
  };
  const countRejected = () => readLog().split('Synchronous replication key updated by someone else').length;
  /** Switches synchronous replication off and on, so that Patroni discards what etcd knows about the synchronous standby. */
  const resetSynchronousMode = async ({ api }: { api: number }) => {
    const configure = (enabled: boolean) =>
      fetch(`http://127.0.0.1:${api}/config`, {
        method: 'PATCH',
        body: JSON.stringify({ synchronous_mode: enabled }),
        signal: AbortSignal.timeout(10_000),
      }).catch(() => undefined);
    const countDisabled = () => readLog().split('Disabled synchronous replication').length;
    const before = countDisabled();
    await configure(false);
    await waitFor('the standby is no longer synchronous', () => countDisabled() > before);
    await waitFor('synchronous replication is on', async () => (await configure(true))?.ok);
  };
  /**
   * Waits until `isDone`. The error after a timeout contains the end of Patroni's log.
   *
   * Patroni before 3.1 may keep an outdated view of etcd after a long wait, and then no write of the primary's Patroni to
   * etcd succeeds: https://github.com/patroni/patroni/pull/2783. It is restarted, as docs/operations.md says. If etcd itself
   * still records the former primary as the one with a synchronous standby, only a reset helps.
   */
  const waitWithRemedies = async (what: string, isDone: () => Promise<boolean> | boolean) => {
    let before = countRejected();
    let remedies = 0;
    const check = async () => {
      if (await isDone()) return true;
      if (countRejected() - before < 3) return false;
      const member = await primary();
      if (member && remedies++ === 0) member.restartPatroni();
      else if (member) await resetSynchronousMode(member);
      before = countRejected();
      return false;
    };
    await waitFor(what, check).catch(async (cause) => {
      const states = await Promise.all(members.map(describeReplication));
      const log = readLog().split('\n').filter(isEvent).slice(-60).join('\n');
      throw new Error(`Never happened: ${what}.\n${states.join('\n')}\nThe end of Patroni's log:\n${log}`, { cause });
    });
  };
  const waitForStandby = () => waitWithRemedies('there is a primary and a synchronous standby', isSynchronous);
  await waitForStandby();
  const { port } = await waitFor('there is a primary', primary);
  const superuser = connectWithoutDeadline({ url: `postgres://postgres:change-me@127.0.0.1:${port}/postgres` });
  await superuser`create role banyan login createrole password 'change-me'`;
  await superuser`create database banyan owner banyan`;
  await superuser.end();

  fs.writeFileSync(
    `${folder}/haproxy.cfg`,
    sample('haproxy.cfg', [
      ['bind :5432', `bind 127.0.0.1:${proxy}`],
      [/^.*server pg3.*$/gm, ''],
      ...members.map(({ name, port, api }): [string, string] => [
        `${name}:5432 check port 8008`,
        `127.0.0.1:${port} check port ${api}`,
      ]),
    ]),
  );
  run('haproxy', ['-db', '-f', `${folder}/haproxy.cfg`]);
  fs.writeFileSync(`${folder}/userlist.txt`, '"postgres" "change-me"\n');
  fs.writeFileSync(
    `${folder}/pgbouncer.ini`,
    `${sample('pgbouncer.ini', [
      ['port=5432', `port=${proxy}`],
      ['listen_addr = 0.0.0.0', 'listen_addr = 127.0.0.1'],
      ['6432', `${pooler}`],
      ['/etc/pgbouncer', folder],
    ])}\nunix_socket_dir = ${folder}\n`,
  );
  run('pgbouncer', [`${folder}/pgbouncer.ini`]);
  const url = (hosts: string) => `postgres://banyan:change-me@${hosts}/banyan`;
  return {
    members,
    primary,
    waitWithRemedies,
    waitForStandby,
    /** Asks Patroni to make another member the primary. */
    async switchover(): Promise<void> {
      const leader = await waitFor('there is a primary', primary);
      await waitFor('the switchover is accepted', async () => {
        const response = await fetch(`http://127.0.0.1:${leader.api}/switchover`, {
          method: 'POST',
          body: JSON.stringify({ leader: leader.name }),
        });
        return response.ok;
      });
    },
    urls: {
      hosts: `${url(members.map(({ port }) => `127.0.0.1:${port}`).join(','))}?target_session_attrs=read-write`,
      haproxy: url(`127.0.0.1:${proxy}`),
      pgbouncer: url(`127.0.0.1:${pooler}`),
    },
  };
}
