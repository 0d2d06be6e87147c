import type { ConnectionListener, Sql } from './driver.ts';
import { isFromPostgres } from './errors.ts';
import { type Host, type Hosts, selectNextHost } from './hosts.ts';
import type { Connection } from './pool.ts';
import { identifyServer } from './server-identity.ts';

/** How many checks without a byte make a connection suspicious. */
const SUSPICIOUS_CHECKS = 2;

/**
 * A connection that is silent for this many checks is lost. PostgreSQL cancels statements and transactions earlier than that,
 * and the operating system may take a quarter of an hour to notice that a machine is unreachable.
 */
const LOST_CHECKS = 25;

interface Watched {
  connections: ReadonlySet<Connection>;
  hosts: Hosts;
  connect: (listener: ConnectionListener, host: Host) => Sql;
  checkMs: number;
  /** How long a server may take to accept a connection and to answer. */
  attemptMs: number;
  discard: (connection: Connection) => void;
  discardReplaced: () => void;
}

/**
 * Looks for connections that are in use and receive nothing. Asks their server, on a new connection, whether it still works
 * for them:
 *
 * - It does not answer: all of its connections are discarded, and the work on them fails at once.
 * - It works for a connection: the connection is kept, however long the work takes. A commit waits for a synchronous standby
 *   without any limit. If it were abandoned, the next one would wait too, and they would take all connections of the server.
 * - If there are several hosts, the server may also have been replaced. Then its commits would wait indefinitely, so the other
 *   hosts are probed.
 */
export function watchConnections({
  connections,
  hosts,
  connect,
  checkMs,
  attemptMs,
  discard,
  discardReplaced,
}: Watched) {
  const probing = new Set<Host>();

  /** Runs one query on a new connection. */
  async function probe<T>(host: Host, query: (sql: Sql) => Promise<T>): Promise<T> {
    const sockets: { destroy(): unknown }[] = [];
    const sql = connect({ onOpen: (socket) => void sockets.push(socket), onLost: () => {} }, host);
    try {
      return await within(attemptMs, query(sql));
    } finally {
      void sql.end({ timeout: 0 });
      for (const socket of sockets) socket.destroy();
    }
  }

  async function examine(host: Host): Promise<void> {
    const ofHost = () => [...connections].filter((connection) => connection.host === host);
    const received = () => ofHost().reduce((sum, { socket }) => sum + (socket?.bytesRead ?? 0), 0);
    const before = received();
    const silent = ofHost().filter(isSuspicious);
    if (silent.length === 0) return;
    try {
      const pids = silent.map(({ pid }) => pid);
      const rows = await probe(
        host,
        (sql) => sql<{ pid: number }[]>`
          select pid from pg_stat_activity where pid = any(${pids}) and state = 'active'`,
      );
      const working = silent.filter(({ pid }) => rows.some((row) => row.pid === pid));
      for (const connection of working) connection.silentChecks = 0;
      if (working.length > 0) await findReplacement(host);
    } catch (error) {
      // A server that has no connection left, or is shutting down, does answer. So does a busy one that serves others.
      if (isFromPostgres(error) || received() !== before) return;
      selectNextHost(hosts, host);
      for (const connection of ofHost()) discard(connection);
    }
  }

  /** Moves to another host if that has been promoted while this one still runs. */
  async function findReplacement(host: Host): Promise<void> {
    const { timeline } = hosts;
    for (const other of hosts.list.filter((each) => each !== host)) {
      await probe(other, (sql) => identifyServer(sql, hosts)).catch(() => {});
      if (hosts.timeline === timeline) continue;
      hosts.current = other;
      discardReplaced();
      return;
    }
  }

  const check = () => {
    const suspicious = new Set<Host>();
    for (const connection of connections) {
      const bytesRead = connection.socket?.bytesRead ?? 0;
      const alive = !connection.fail || bytesRead !== connection.bytesRead;
      connection.bytesRead = bytesRead;
      connection.silentChecks = alive ? 0 : connection.silentChecks + 1;
      if (connection.silentChecks >= LOST_CHECKS) discard(connection);
      else if (isSuspicious(connection)) suspicious.add(connection.host);
    }
    for (const host of suspicious) {
      if (probing.has(host)) continue;
      probing.add(host);
      void examine(host).finally(() => probing.delete(host));
    }
  };
  const checks = setInterval(check, checkMs).unref();
  return { stop: () => clearInterval(checks) };
}

const isSuspicious = ({ silentChecks }: Connection) => silentChecks >= SUSPICIOUS_CHECKS;

/** Fails if a promise is not settled in time. The code is that of the driver. */
export function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timeout = () => {
      reject(Object.assign(new Error('the server does not respond'), { code: 'CONNECT_TIMEOUT' }));
    };
    const timer = setTimeout(timeout, ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
