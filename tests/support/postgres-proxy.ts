import { once } from 'node:events';
import net from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { after } from './cleanup.ts';

/** A connection loss in one transaction. */
export interface Cut {
  moment: 'at the text' | 'before the commit' | 'after the commit';
  /** Text that only this transaction sends: background work of the service commits too. */
  of: string;
}

/**
 * A proxy between the service and PostgreSQL that can delay responses and break connections: at a statement, or at the worst
 * moment, which is a COMMIT: before PostgreSQL receives it, or afterwards, so that only the response is lost.
 */
export class PostgresProxy {
  /** The delay of PostgreSQL's responses. */
  latencyMs = 0;
  /** The connection losses to cause. */
  cuts: Cut[] = [];
  /** Ends each new connection after this many messages of PostgreSQL, as if an administrator had terminated it. */
  maxMessages = Number.POSITIVE_INFINITY;
  /** Connections that stay open but forward nothing. */
  private readonly silenced = new Set<net.Socket>();
  private isCutOff = false;
  private readonly socketPath: string;
  private readonly server = net.createServer((client) => this.forward(client));
  private readonly sockets = new Set<net.Socket>();

  /** `socketPath` is that of PostgreSQL. */
  constructor(socketPath: string) {
    this.socketPath = socketPath;
    after(() => this.close());
  }

  /** Starts to listen. Returns the port. */
  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as net.AddressInfo).port;
  }

  /** Stops forwarding on all current connections, without closing them. */
  silence(): void {
    for (const socket of this.sockets) this.silenced.add(socket);
  }

  /** Forwards nothing more, on current and on new connections, like a network that drops all packets. */
  cutOff(): void {
    this.isCutOff = true;
    this.silence();
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private forward(client: net.Socket): void {
    const postgres = net.connect(this.socketPath);
    for (const [one, other] of [
      [client, postgres],
      [postgres, client],
    ] as const) {
      this.sockets.add(one);
      if (this.isCutOff) this.silenced.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
    let previous: Promise<unknown> = Promise.resolve();
    const forwardResponse = (bytes: Buffer) => {
      if (this.silenced.has(client)) return;
      previous = Promise.all([previous, setTimeout(this.latencyMs)]).then(() => client.write(bytes));
    };
    postgres.on(
      'data',
      this.maxMessages === Number.POSITIVE_INFINITY ? forwardResponse : terminateAfter(client, this.maxMessages),
    );
    const transactionCommittedBy = watchCommits();
    client.on('data', (bytes) => {
      if (this.silenced.has(client)) return;
      const cut = this.takeCut(bytes.toString('latin1'), transactionCommittedBy(bytes));
      if (cut && cut.moment !== 'after the commit') {
        client.destroy();
        return;
      }
      // Drop the responses, and disconnect once PostgreSQL has committed: statements sent with the commit respond earlier.
      if (cut)
        postgres
          .off('data', forwardResponse)
          .on('data', (response) => response.includes('COMMIT\0') && client.destroy());
      postgres.write(bytes);
    });
  }

  /** Removes and returns the connection loss that is planned for these bytes, or for the transaction that they commit. */
  private takeCut(sent: string, transaction: string): Cut | undefined {
    const index = this.cuts.findIndex(({ moment, of }) => (moment === 'at the text' ? sent : transaction).includes(of));
    return index < 0 ? undefined : this.cuts.splice(index, 1)[0];
  }
}

/**
 * Returns a function that takes the bytes of a client. If they contain a COMMIT, it returns everything its transaction has
 * sent, otherwise ''. The driver sends the text of COMMIT once and later only the name of the prepared statement; it sends the
 * text of BEGIN each time.
 */
function watchCommits(): (bytes: Buffer) => string {
  let name: string | undefined;
  let transaction = '';
  return (bytes) => {
    const text = bytes.toString('latin1');
    transaction += text;
    transaction = transaction.slice(Math.max(0, transaction.lastIndexOf('read committed read write\0')));
    name ??= /([a-z0-9]+)\0commit\0/.exec(text)?.[1];
    return name !== undefined && text.includes(`\0${name}\0`) ? transaction : '';
  };
}

/** Returns a function that forwards PostgreSQL's first `count` messages, then reports that the connection is terminated, and ends it. */
function terminateAfter(client: net.Socket, count: number): (bytes: Buffer) => void {
  let received = Buffer.alloc(0);
  let left = count;
  return (bytes) => {
    received = Buffer.concat([received, bytes]);
    // A message is its type, its length without the type, and its content.
    for (let end: number; left > 0 && received.length >= 5; received = received.subarray(end), left--) {
      end = 1 + received.readUInt32BE(1);
      if (received.length < end) return;
      client.write(received.subarray(0, end));
    }
    if (left === 0) client.end(TERMINATED);
  };
}

/** The message "FATAL: terminating connection due to administrator command". */
const TERMINATED = (() => {
  const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';
  const head = Buffer.from('E0000');
  head.writeUInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, Buffer.from(fields)]);
})();
