import type net from 'node:net';
import { type ConnectionTiming, codeOf, defaultConnectionTiming, isLost, type Sql, type Watch } from './sql.ts';

/** The service's connections, lent one at a time. */
export interface Pool {
  /** For as long as `work` takes, which fails when its connection is lost. */
  use<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * How many connections were opened so far. A new one may lead to another database than those before it: one that was
   * put back from a backup, or a replica that took over.
   */
  opened(): number;
  /** Work that waited longer than this for a connection is not begun: its caller has been answered. */
  waitMs: number;
  close(): Promise<void>;
}

interface Connection {
  sql: Sql;
  socket?: net.Socket;
  lost: boolean;
  /** Tells who uses it that it is lost. */
  fail?: ((error: Error) => void) | undefined;
  /** What had been read from it, and how many looks ago that was more than before. */
  read: number;
  silentFor: number;
}

/**
 * Connections are opened as they are needed, up to `most`; who comes later waits, in his order. One that is lost is
 * left to itself, and who needs one next opens another: see docs/decisions/0007.
 */
export function makePool(
  connect: (watch: Watch) => Sql,
  most: number,
  { checkMs, waitMs }: Pick<ConnectionTiming, 'checkMs' | 'waitMs'> = defaultConnectionTiming,
): Pool {
  const all = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: ((connection: Connection) => void)[] = [];
  let closed = false;
  let opened = 0;

  function open(): Connection {
    opened++;
    const connection: Connection = {
      lost: false,
      read: 0,
      silentFor: 0,
      sql: connect({
        opened: (socket) => {
          connection.socket = socket;
        },
        lost: () => lose(connection),
      }),
    };
    all.add(connection);
    return connection;
  }

  function lose(connection: Connection) {
    if (connection.lost) return;
    connection.lost = true;
    all.delete(connection);
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
    void connection.sql.end({ timeout: 0 });
    connection.fail?.(Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' }));
  }

  async function take(): Promise<Connection> {
    if (closed) throw Object.assign(new Error('the pool is closed'), { code: 'CONNECTION_ENDED' });
    const ready = idle.pop();
    if (ready) return ready;
    if (all.size < most) return open();
    return new Promise((resume) => waiting.push(resume));
  }

  function giveBack(connection: Connection) {
    connection.fail = undefined;
    const next = waiting.shift();
    if (next) next(connection.lost ? open() : connection);
    else if (!connection.lost) idle.push(connection);
  }

  // PostgreSQL ends what takes too long, within 20 seconds. Who is silent for longer is not there any more, and the
  // system may take a quarter of an hour to find out.
  const look = () => {
    for (const connection of all) {
      const read = connection.socket?.bytesRead ?? 0;
      const alive = !connection.fail || read !== connection.read;
      connection.read = read;
      connection.silentFor = alive ? 0 : connection.silentFor + 1;
      if (connection.silentFor === 5) connection.socket?.destroy();
    }
  };
  const looking = setInterval(look, checkMs).unref();

  return {
    async use<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
      const connection = await take();
      try {
        return await new Promise<T>((resolve, reject) => {
          connection.fail = reject;
          work(connection.sql).then(resolve, reject);
        });
      } catch (error) {
        // The driver says so before it closes the connection.
        if (isLost(codeOf(error)) || (error as { severity?: string }).severity === 'FATAL') lose(connection);
        throw error;
      } finally {
        giveBack(connection);
      }
    },
    opened: () => opened,
    waitMs,
    async close() {
      closed = true;
      clearInterval(looking);
      await Promise.all([...all].map(({ sql }) => sql.end({ timeout: 5 })));
    },
  };
}
