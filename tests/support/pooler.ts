import { once } from 'node:events';
import net from 'node:net';
import { connectionSettings, defaultConnectionTiming } from '../../db/driver.ts';
import { after } from './cleanup.ts';

/** The behavior of a connection pooler such as PgBouncer. */
export interface PoolerBehavior {
  /** PgBouncer refuses settings that it does not know, and drops those that it is configured to ignore. */
  settings: 'refused' | 'dropped';
  /** Resets the session after each transaction, as if the next one used another connection. */
  resetsSessions?: boolean;
}

/**
 * Starts a proxy in front of PostgreSQL's socket that behaves like a connection pooler. Returns the URL of the same database
 * through it. It does not pool: all that the service can notice of a pooler is the state that is lost.
 */
export async function startPooler(databaseUrl: string, behavior: PoolerBehavior): Promise<string> {
  const url = new URL(databaseUrl);
  const path = `${url.searchParams.get('host')}/.s.PGSQL.5432`;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const postgres = net.connect(path);
    for (const [one, other] of [
      [client, postgres],
      [postgres, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => other.destroy());
    }
    relay(client, postgres, behavior);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);
  return url.href;
}

const RESET = message('Q', 'reset all; select pg_advisory_unlock_all()\0');

function relay(client: net.Socket, postgres: net.Socket, { settings, resetsSessions = false }: PoolerBehavior) {
  const parseRequests = createParser(true);
  const parseResponses = createParser(false);
  /** The number of queries for which the client still waits. */
  let pending = 0;
  let mayReset = false;
  let resetting = false;
  const delayed: Buffer[] = [];
  const send = (bytes: Buffer) => {
    if (resetsSessions && mayReset) {
      mayReset = false;
      resetting = true;
      postgres.write(RESET);
    }
    if (resetting) return void delayed.push(bytes);
    if ('QS'.includes(String.fromCharCode(bytes[0] as number))) pending++;
    postgres.write(bytes);
  };
  client.on('data', (chunk) => {
    for (const { kind, bytes } of parseRequests(chunk)) {
      if (kind !== 'startup') send(bytes);
      else if (settings === 'refused') client.end(errorMessage('unsupported startup parameter: search_path'));
      else postgres.write(withoutSettings(bytes));
    }
  });
  postgres.on('data', (chunk) => {
    for (const { kind, bytes } of parseResponses(chunk)) {
      const ready = kind === 'Z';
      if (resetting) {
        if (!ready) continue;
        resetting = false;
        for (const message of delayed.splice(0)) send(message);
        continue;
      }
      // The first ReadyForQuery follows the login and belongs to no query.
      if (ready) pending = Math.max(0, pending - 1);
      mayReset = ready && pending === 0 && bytes.at(-1) === 'I'.charCodeAt(0);
      client.write(bytes);
    }
  });
}

function message(kind: string, text: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(Buffer.byteLength(text) + 4, 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

const errorMessage = (text: string) => message('E', `SFATAL\0C08P01\0M${text}\0\0`);

/** Removes the settings from a startup message, as a pooler that drops them does. */
function withoutSettings(bytes: Buffer): Buffer {
  const words = bytes.subarray(8).toString().split('\0');
  const remaining: string[] = [];
  for (let n = 0; n + 1 < words.length && words[n]; n += 2) {
    if (!((words[n] as string) in connectionSettings(defaultConnectionTiming)))
      remaining.push(words[n] as string, words[n + 1] as string);
  }
  const body = Buffer.from(`${remaining.join('\0')}\0\0`);
  const head = Buffer.from(bytes.subarray(0, 8));
  head.writeInt32BE(body.length + 8);
  return Buffer.concat([head, body]);
}

/** Splits a stream into PostgreSQL's messages. The first message of a client has no type byte before its length. */
function createParser(client: boolean) {
  let buffer = Buffer.alloc(0);
  let first = client;
  return function* (chunk: Buffer) {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const offset = first ? 0 : 1;
      if (buffer.length < offset + 4) return;
      const length = offset + buffer.readInt32BE(offset);
      if (buffer.length < length) return;
      const bytes = buffer.subarray(0, length);
      const kind = first ? 'startup' : String.fromCharCode(bytes[0] as number);
      buffer = buffer.subarray(length);
      first = false;
      yield { kind, bytes };
    }
  };
}
