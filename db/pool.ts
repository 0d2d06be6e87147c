import type net from 'node:net';
import { ActiveTenants } from './active-tenants.ts';
import { type ConnectionListener, type ConnectionTiming, defaultConnectionTiming, type Sql } from './driver.ts';
import { errorCode, isConnectionLost } from './errors.ts';
import { createFairLimit, type FairLimit } from './fair-limit.ts';
import { createWriteLimits, type WriteLimits } from './write-limits.ts';

/** The service's connections. Each is used by one piece of work at a time. */
export interface Pool {
  /** Runs `work` with a connection of its own. Fails as soon as that connection is lost. */
  use<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Returns how many connections have been opened so far. A new one may lead to another database than those before it: one
   * that was restored from a backup, or a replica that was promoted.
   */
  connectionsOpened(): number;
  /** Returns how many connections are open and in use at present, and how much work waits for one. */
  usage(): { open: number; inUse: number; waiting: number };
  /** Work that waited longer than this for a connection is not started: its caller has already got an error. */
  waitMs: number;
  /** How many connections may be open. */
  size: number;
  /** Which tenants use the connections at present. */
  activeTenants: ActiveTenants;
  /** Shares the connections among reads: of ten, they may use eight. Batched reads need so few that they are not counted. */
  reads: FairLimit;
  /** Shares the connections among writes. */
  writes: WriteLimits;
  /** Ends all connections. Work that waits for one fails. */
  close(): Promise<void>;
}

interface Connection {
  sql: Sql;
  socket?: net.Socket;
  lost: boolean;
  /** Rejects the work that uses the connection; undefined while it is idle. */
  fail?: ((error: Error) => void) | undefined;
  /** The number of bytes received until the last check. */
  bytesRead: number;
  /** How many checks in a row found no new bytes while the connection was in use. */
  silentChecks: number;
}

/**
 * Opens connections as they are needed, up to `maxConnections`; further work waits in order. A lost connection is discarded,
 * and the next work that needs one opens another: see docs/decisions/0007.
 */
export function createPool(
  connect: (listener: ConnectionListener) => Sql,
  maxConnections: number,
  { checkMs, waitMs }: Pick<ConnectionTiming, 'checkMs' | 'waitMs'> = defaultConnectionTiming,
): Pool {
  const connections = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: { resume: (connection: Connection) => void; fail: (error: Error) => void }[] = [];
  const activeTenants = new ActiveTenants();
  let closed = false;
  let opened = 0;

  function open(): Connection {
    opened++;
    const connection: Connection = {
      lost: false,
      bytesRead: 0,
      silentChecks: 0,
      sql: connect({
        onOpen: (socket) => {
          connection.socket = socket;
        },
        onLost: () => discard(connection),
      }),
    };
    connections.add(connection);
    return connection;
  }

  function discard(connection: Connection) {
    if (connection.lost) return;
    connection.lost = true;
    connections.delete(connection);
    const index = idle.indexOf(connection);
    if (index >= 0) idle.splice(index, 1);
    void connection.sql.end({ timeout: 0 });
    connection.fail?.(Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' }));
  }

  async function acquire(): Promise<Connection> {
    if (closed) throw closedError();
    const connection = idle.pop();
    if (connection) return connection;
    if (connections.size < maxConnections) return open();
    return new Promise((resume, fail) => waiting.push({ resume, fail }));
  }

  function release(connection: Connection) {
    connection.fail = undefined;
    const next = waiting.shift();
    if (next) next.resume(connection.lost ? open() : connection);
    else if (!connection.lost) idle.push(connection);
  }

  // PostgreSQL cancels statements and transactions within 20 seconds. A server that is silent for longer is unreachable, and
  // the operating system may take a quarter of an hour to notice.
  const checkConnections = () => {
    for (const connection of connections) {
      const bytesRead = connection.socket?.bytesRead ?? 0;
      const alive = !connection.fail || bytesRead !== connection.bytesRead;
      connection.bytesRead = bytesRead;
      connection.silentChecks = alive ? 0 : connection.silentChecks + 1;
      if (connection.silentChecks === 5) connection.socket?.destroy();
    }
  };
  const checks = setInterval(checkConnections, checkMs).unref();

  return {
    async use<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
      const connection = await acquire();
      try {
        return await new Promise<T>((resolve, reject) => {
          connection.fail = reject;
          work(connection.sql).then(resolve, reject);
        });
      } catch (error) {
        // The driver rejects the statement before it reports the connection as closed.
        if (isConnectionLost(errorCode(error)) || (error as { severity?: string }).severity === 'FATAL')
          discard(connection);
        throw error;
      } finally {
        release(connection);
      }
    },
    connectionsOpened: () => opened,
    usage: () => ({
      open: connections.size,
      inUse: connections.size - idle.length,
      waiting: waiting.length,
    }),
    waitMs,
    size: maxConnections,
    activeTenants,
    reads: createFairLimit(Math.max(1, Math.floor(maxConnections * 0.8)), activeTenants),
    writes: createWriteLimits(maxConnections, activeTenants),
    async close() {
      closed = true;
      clearInterval(checks);
      // Nobody would end a connection that is opened for them from here on, in place of a lost one.
      for (const { fail } of waiting.splice(0)) fail(closedError());
      await Promise.all([...connections].map(({ sql }) => sql.end({ timeout: 5 })));
    },
  };
}

const closedError = () => Object.assign(new Error('the pool is closed'), { code: 'CONNECTION_ENDED' });
