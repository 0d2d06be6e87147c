import { once } from 'node:events';
import net from 'node:net';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';

/** A connection that breaks with the commit of one transaction. */
export interface Cut {
  moment: 'before the commit' | 'after the commit';
  /** Words that this transaction sends, and no other: the service's own work in the background commits too. */
  of: string;
}

/**
 * A wire between the service and PostgreSQL that can be slow, and can break in the worst moment: when a COMMIT goes by,
 * before the database hears of it, or after, so that only its answer is lost.
 */
export class Wire {
  /** What PostgreSQL answers is under way for this long. */
  latencyMs = 0;
  /** What happens to coming commits, each on its own connection. */
  cuts: Cut[] = [];
  /** Those over whom nothing is carried any more, though nobody hangs up. */
  private readonly mute = new Set<net.Socket>();
  private readonly socketPath: string;
  private readonly server = net.createServer((near) => this.carry(near));
  private readonly ends = new Set<net.Socket>();

  /** `socketPath`: PostgreSQL's. */
  constructor(socketPath: string) {
    this.socketPath = socketPath;
    after(() => this.close());
  }

  /** Tells the port it listens on. */
  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as net.AddressInfo).port;
  }

  /** The connections of this moment fall silent. */
  silence(): void {
    for (const end of this.ends) this.mute.add(end);
  }

  close(): void {
    this.server.close();
    for (const end of this.ends) end.destroy();
  }

  private carry(near: net.Socket): void {
    const far = net.connect(this.socketPath);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.ends.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        this.ends.delete(one);
        other.destroy();
      });
    }
    let arrived: Promise<unknown> = Promise.resolve();
    const answer = (bytes: Buffer) => {
      if (this.mute.has(near)) return;
      arrived = Promise.all([arrived, setTimeout(this.latencyMs)]).then(() => near.write(bytes));
    };
    far.on('data', answer);
    const committed = watchCommits();
    near.on('data', (bytes) => {
      if (this.mute.has(near)) return;
      const cut = this.cutOf(committed(bytes));
      if (cut?.moment === 'before the commit') {
        near.destroy();
        return;
      }
      // Nobody hears of it. What was sent together with the commit is answered before it is done.
      if (cut) far.off('data', answer).on('data', (heard) => heard.includes('COMMIT\0') && near.destroy());
      far.write(bytes);
    });
  }

  private cutOf(transaction: string): Cut | undefined {
    const place = this.cuts.findIndex(({ of }) => transaction.includes(of));
    return place < 0 ? undefined : this.cuts.splice(place, 1)[0];
  }
}

/**
 * Tells all that the transaction has sent whose COMMIT is in these bytes, else nothing. The driver sends the text of a
 * COMMIT once, and later just the name it gave it; that of a BEGIN each time.
 */
function watchCommits(): (bytes: Buffer) => string {
  let name: string | undefined;
  let transaction = '';
  return (bytes) => {
    const text = bytes.toString('latin1');
    transaction += text;
    transaction = transaction.slice(Math.max(0, transaction.lastIndexOf('begin read write\0')));
    name ??= /([a-z0-9]+)\0commit\0/.exec(text)?.[1];
    return name !== undefined && text.includes(`\0${name}\0`) ? transaction : '';
  };
}
