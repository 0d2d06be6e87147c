import type net from 'node:net';
import { ActiveTenants } from './active-tenants.ts';
import type { ConnectionListener, ConnectionTiming, Sql } from './driver.ts';
import { errorCode, isConnectionLost, isFatal, isStandby } from './errors.ts';
import { createFairLimit, type FairLimit } from './fair-limit.ts';
import { type Host, type Hosts, searchPrimary } from './hosts.ts';
import { watchConnections, within } from './liveness.ts';
import { identifyServer } from './server-identity.ts';
import { createWriteLimits, type WriteLimits } from './write-limits.ts';

/** The service's connections. Each is used by one piece of work at a time. */
export interface Pool {
  /** Runs `work` with a connection of its own. Fails as soon as that connection is lost. */
  use<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Returns how many times a connection has been opened, or tried to be, so far. A new one may lead to a different database: one
   * that was restored from a backup, or a replica that was promoted.
   */
  connectionsOpened(): number;
  /** Returns how many connections have been lost, or could not be opened, so far. */
  connectionsLost(): number;
  /** Returns how many connections are open and in use at present, and how much work waits for one. */
  usage(): { open: number; inUse: number; waiting: number };
  /** Work that waited longer than this for a connection is not started: its caller gets TOO_BUSY. */
  waitMs: number;
  /** How long a transaction that holds the lock of the tenant tree waits for each further lock. */
  treeLockMs: number;
  /** How many connections may be open. */
  size: number;
  activeTenants: ActiveTenants;
  /** Shares the connections among reads: of ten, they may use eight. Batched reads need so few that they are not counted. */
  reads: FairLimit;
  writes: WriteLimits;
  /** Ends all connections. Work that waits for one fails. */
  close(): Promise<void>;
}

export interface Connection {
  sql: Sql;
  host: Host;
  /** The process of the server that serves it. */
  pid: number;
  /** The timeline of its server; 0 if any server is used. */
  timeline: number;
  socket?: net.Socket;
  lost: boolean;
  /** Rejects the work that uses the connection; undefined while it is idle. */
  fail?: ((error: Error) => void) | undefined;
  /** The number of bytes received until the last check. */
  bytesRead: number;
  /** How many checks in a row found no new bytes while the connection was in use. */
  silentChecks: number;
}

interface Waiter {
  resume: (connection: Connection) => void;
  fail: (error: Error) => void;
  /** No further attempt to open a connection begins after this time, on the clock of `performance`. */
  deadline: number;
}

/**
 * Opens connections as they are needed, up to `maxConnections`; further work waits in order. A lost connection is discarded,
 * and the next work that needs one opens another: see docs/decisions/0007. It is opened on the primary, if there are several
 * servers: see docs/decisions/0025.
 */
export function createPool(
  connect: (listener: ConnectionListener, host: Host) => Sql,
  maxConnections: number,
  timing: Pick<ConnectionTiming, 'checkMs' | 'waitMs' | 'treeLockMs' | 'connectMs' | 'hostMs'>,
  hosts: Hosts,
): Pool {
  const { waitMs, treeLockMs } = timing;
  // With one host there is nothing to move on to, so a slow server gets more time.
  const attemptMs = hosts.primaryOnly ? timing.hostMs : timing.connectMs;
  const connections = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: Waiter[] = [];
  const activeTenants = new ActiveTenants();
  let closed = false;
  let opened = 0;
  let lost = 0;
  /** How many connections are being opened. `connections` does not contain them yet. */
  let opening = 0;
  const attempts = new Set<Sql>();

  /** Opens a connection for each caller that waits, as long as there are slots. The caller that has waited longest gets the first one. */
  function openForWaiting(): void {
    for (let next = waiting[opening]; next && connections.size + opening < maxConnections; next = waiting[opening]) {
      void open(next);
    }
  }

  async function open({ deadline }: Waiter): Promise<void> {
    opening++;
    try {
      const connection = await searchPrimary(hosts, deadline, openOn);
      opening--;
      handOver(connection);
    } catch (error) {
      opening--;
      waiting.shift()?.fail(error as Error);
      openForWaiting();
    }
  }

  async function openOn(host: Host): Promise<Connection> {
    if (closed) throw closedError();
    opened++;
    let failOpening = (_: Error) => {};
    // The driver does not always report that a connection was closed while it was being opened.
    const closedEarly = new Promise<never>((_, reject) => {
      failOpening = reject;
    });
    const connection: Connection = {
      host,
      pid: 0,
      timeline: 0,
      lost: false,
      bytesRead: 0,
      silentChecks: 0,
      sql: connect(
        {
          onOpen: (socket) => {
            connection.socket = socket;
            // Later, so that the driver's own error comes first: it says why.
            socket.once('close', () => setImmediate(() => failOpening(lostError())));
          },
          onLost: () => discard(connection),
        },
        host,
      ),
    };
    attempts.add(connection.sql);
    try {
      Object.assign(
        connection,
        await within(attemptMs, Promise.race([identifyServer(connection.sql, hosts), closedEarly])),
      );
      if (closed) throw closedError();
      if (connection.lost) throw lostError();
      connections.add(connection);
      discardReplaced();
      return connection;
    } catch (error) {
      discard(connection);
      throw error;
    } finally {
      attempts.delete(connection.sql);
      failOpening = () => {};
    }
  }

  /** Discards the connections to a server that is no longer the primary. */
  function discardReplaced() {
    for (const connection of connections) if (connection.timeline < hosts.timeline) discard(connection);
  }

  function discard(connection: Connection) {
    if (connection.lost) return;
    connection.lost = true;
    lost++;
    connections.delete(connection);
    const index = idle.indexOf(connection);
    if (index >= 0) idle.splice(index, 1);
    void connection.sql.end({ timeout: 0 });
    // A server that does not respond does not close the connection either.
    connection.socket?.destroy();
    connection.fail?.(lostError());
  }

  async function acquire(): Promise<Connection> {
    if (closed) throw closedError();
    const connection = idle.pop();
    if (connection) return connection;
    return new Promise((resume, fail) => {
      waiting.push({ resume, fail, deadline: performance.now() + waitMs });
      openForWaiting();
    });
  }

  function handOver(connection: Connection) {
    const next = waiting.shift();
    if (next) next.resume(connection);
    else idle.push(connection);
  }

  function release(connection: Connection) {
    connection.fail = undefined;
    if (connection.lost) openForWaiting();
    else handOver(connection);
  }

  const checks = watchConnections({
    connections,
    hosts,
    connect,
    checkMs: timing.checkMs,
    attemptMs,
    discard,
    discardReplaced,
  });

  return {
    async use<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
      const connection = await acquire();
      try {
        return await new Promise<T>((resolve, reject) => {
          connection.fail = reject;
          work(connection.sql).then(resolve, reject);
        });
      } catch (error) {
        // The driver rejects the statement before it reports the connection as closed. A standby takes no writes, and the
        // next connection may lead to the primary.
        if (isConnectionLost(errorCode(error)) || isFatal(error) || isStandby(error)) discard(connection);
        throw error;
      } finally {
        release(connection);
      }
    },
    connectionsOpened: () => opened,
    connectionsLost: () => lost,
    usage: () => ({
      open: connections.size,
      inUse: connections.size - idle.length,
      waiting: waiting.length,
    }),
    waitMs,
    treeLockMs,
    size: maxConnections,
    activeTenants,
    reads: createFairLimit(Math.max(1, Math.floor(maxConnections * 0.8)), activeTenants),
    writes: createWriteLimits(maxConnections, activeTenants),
    async close() {
      closed = true;
      checks.stop();
      // Reject work that waits: a connection that is opened for it from now on, in place of a lost one, would never be ended.
      for (const { fail } of waiting.splice(0)) fail(closedError());
      await Promise.all([
        ...[...connections].map(({ sql }) => sql.end({ timeout: 5 })),
        ...[...attempts].map((sql) => sql.end({ timeout: 0 })),
      ]);
    },
  };
}

const lostError = () => Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' });
const closedError = () => Object.assign(new Error('the pool is closed'), { code: 'CONNECTION_ENDED' });
