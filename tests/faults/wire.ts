import { once } from 'node:events';
import net from 'node:net';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';

/** The moment in which a connection breaks. */
export type Cut = 'before the commit' | 'after the commit';

/**
 * A wire between the service and PostgreSQL that can be slow, and can break in the worst moment: when a COMMIT goes by,
 * before the database hears of it, or after, so that only its answer is lost.
 */
export class Wire {
  /** What PostgreSQL answers is under way for this long. */
  latencyMs = 0;
  /** What happens to the coming commits, each on its own connection. */
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
    const commits = watchCommits();
    near.on('data', (bytes) => {
      if (this.mute.has(near)) return;
      const cut = commits(bytes) ? this.cuts.shift() : undefined;
      if (cut === 'before the commit') {
        near.destroy();
        return;
      }
      // Once PostgreSQL answers, it is done; and nobody hears of it.
      if (cut) far.off('data', answer).once('data', () => near.destroy());
      far.write(bytes);
    });
  }
}

/** Tells whether a COMMIT is in these bytes. The driver sends its text once, and later just the name it gave it. */
function watchCommits(): (bytes: Buffer) => boolean {
  let name: string | undefined;
  return (bytes) => {
    const text = bytes.toString('latin1');
    name ??= /([a-z0-9]+)\0commit\0/.exec(text)?.[1];
    return name !== undefined && text.includes(`\0${name}\0`);
  };
}
