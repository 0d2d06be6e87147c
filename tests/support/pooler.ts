import { once } from 'node:events';
import net from 'node:net';
import { after } from 'node:test';
import { defaultConnectionTiming, settingsOf } from '../../db/sql.ts';

/** How a pooler such as PgBouncer treats who connects. */
export interface Manners {
  /** `refused`: what PgBouncer does with settings that it does not know. `dropped`: when it is told to ignore them. */
  settings: 'refused' | 'dropped';
  /** Nothing that belongs to a session outlives a transaction: as when the next one is on another connection. */
  forgets?: boolean;
}

/**
 * Stands before a PostgreSQL's socket as a pooler would, and tells the address behind which the same database is. It
 * pools nothing: what the service notices of a pooler is what is lost.
 */
export async function startPooler(databaseUrl: string, manners: Manners): Promise<string> {
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
    relay(client, postgres, manners);
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

const FORGET = message('Q', 'reset all; select pg_advisory_unlock_all()\0');

function relay(client: net.Socket, postgres: net.Socket, { settings, forgets = false }: Manners) {
  const asked = pieces(true);
  const told = pieces(false);
  /** What the client waits for: an answer to each of his questions, then it is his turn again. */
  let open = 0;
  let mayForget = false;
  let forgetting = false;
  const held: Buffer[] = [];
  const send = (piece: Buffer) => {
    if (forgets && mayForget) {
      mayForget = false;
      forgetting = true;
      postgres.write(FORGET);
    }
    if (forgetting) return void held.push(piece);
    if ('QS'.includes(String.fromCharCode(piece[0] as number))) open++;
    postgres.write(piece);
  };
  client.on('data', (chunk) => {
    for (const piece of asked(chunk)) {
      if (piece.kind !== 'startup') send(piece.bytes);
      else if (settings === 'refused') client.end(refusal('unsupported startup parameter: search_path'));
      else postgres.write(withoutSettings(piece.bytes));
    }
  });
  postgres.on('data', (chunk) => {
    for (const { kind, bytes } of told(chunk)) {
      const ready = kind === 'Z';
      if (forgetting) {
        if (!ready) continue;
        forgetting = false;
        for (const piece of held.splice(0)) send(piece);
        continue;
      }
      // The first comes with the login, and answers nothing.
      if (ready) open = Math.max(0, open - 1);
      mayForget = ready && open === 0 && bytes.at(-1) === 'I'.charCodeAt(0);
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

const refusal = (text: string) => message('E', `SFATAL\0C08P01\0M${text}\0\0`);

/** Of the names and values of a startup message, those that a pooler passes on. */
function withoutSettings(bytes: Buffer): Buffer {
  const words = bytes.subarray(8).toString().split('\0');
  const kept: string[] = [];
  for (let n = 0; n + 1 < words.length && words[n]; n += 2) {
    if (!((words[n] as string) in settingsOf(defaultConnectionTiming)))
      kept.push(words[n] as string, words[n + 1] as string);
  }
  const body = Buffer.from(`${kept.join('\0')}\0\0`);
  const head = Buffer.from(bytes.subarray(0, 8));
  head.writeInt32BE(body.length + 8);
  return Buffer.concat([head, body]);
}

/** Cuts a stream into PostgreSQL's messages; the first of a client has no letter before its length. */
function pieces(client: boolean) {
  let left = Buffer.alloc(0);
  let first = client;
  return function* (chunk: Buffer) {
    left = Buffer.concat([left, chunk]);
    for (;;) {
      const before = first ? 0 : 1;
      if (left.length < before + 4) return;
      const length = before + left.readInt32BE(before);
      if (left.length < length) return;
      const bytes = left.subarray(0, length);
      const kind = first ? 'startup' : String.fromCharCode(bytes[0] as number);
      left = left.subarray(length);
      first = false;
      yield { kind, bytes };
    }
  };
}
