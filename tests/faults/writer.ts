import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Tally } from '../support/scale.ts';
import { type Answer, Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** A piece of work under a key of its own: a department is made, or two are deleted together. */
interface Write {
  key: string;
  names: string[];
  /** The two to delete; without them a department is made. */
  ids?: string[];
}

/**
 * Writes on and on, notes what was acknowledged and what is in doubt, and checks both afterwards through the interface.
 * Any answer other than "done" or "come again later" is a fault.
 */
export class Writer {
  client: Client;
  readonly tally = new Tally();
  readonly faults: string[] = [];
  /** The time of the last acknowledgement. */
  acknowledgedAt = 0;
  acknowledged = 0;
  slowestMs = 0;
  private readonly made = new Map<string, string>();
  private readonly deleted: string[] = [];
  private inDoubt: Write[] = [];
  private working: Promise<unknown> | undefined;
  private stopped = false;

  constructor(client: Client) {
    this.client = client;
  }

  /** Until `stop`, or until the service is gone: a broken connection ends a worker. */
  start(workers = 8): void {
    this.stopped = false;
    this.working = Promise.all(Array.from({ length: workers }, () => this.work()));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.working;
  }

  /** Waits until as many more writes were acknowledged. */
  async acknowledges(more: number): Promise<void> {
    const wanted = this.acknowledged + more;
    await waitFor(`${more} more writes are acknowledged`, () => this.acknowledged >= wanted).catch((cause) => {
      throw new Error(`Nothing more is acknowledged: ${JSON.stringify(this.tally.counts)}`, { cause });
    });
  }

  /** The service is at another address now. */
  moveTo(base: string): void {
    this.client = new Client(base, this.client.token);
  }

  private async work(): Promise<void> {
    while (!this.stopped) {
      const pair: Write[] = [1, 2].map(() => ({ key: randomUUID(), names: [randomUUID()] }));
      for (const write of pair) if (!(await this.tryUntilDone(write))) return;
      const names = pair.flatMap((write) => write.names);
      // Every other pair stays.
      if (this.deleted.length > this.made.size / 4) continue;
      const ids = names.map((name) => this.made.get(name) as string);
      if (!(await this.tryUntilDone({ key: randomUUID(), names, ids }))) return;
    }
  }

  /** Repeats it, with the same key, while it is told to come again. Whether it was done. */
  private async tryUntilDone(write: Write): Promise<boolean> {
    for (;;) {
      const answer = await this.send(write).catch((error) => {
        this.tally.add(error.code ?? error.message);
        return undefined;
      });
      if (answer?.code === 200) return true;
      if (this.stopped || answer?.status !== 503) {
        this.inDoubt.push(write);
        return false;
      }
      await setTimeout(50);
    }
  }

  private async send({ key, names, ids }: Write): Promise<Answer> {
    const began = performance.now();
    const options = { headers: { 'idempotency-key': key } };
    const answer = ids
      ? await this.client.delete(`/system/dept-api/${ids}`, options)
      : await this.client.post('/system/dept-api', { deptName: names[0] }, options);
    const ms = Math.round(performance.now() - began);
    this.slowestMs = Math.max(this.slowestMs, ms);
    this.tally.add(answer.code === 200 ? 'done' : (answer.data?.reason ?? answer.status));
    if (answer.code === 200) {
      this.acknowledged++;
      this.acknowledgedAt = performance.now();
      if (ids) this.deleted.push(...names);
      else this.made.set(names[0] as string, String(answer.headers.location).split('/').at(-1) as string);
    } else if (answer.status !== 503 || !answer.headers['retry-after']) {
      this.faults.push(answer.text);
    }
    return answer;
  }

  /** What was acknowledged is there, what is in doubt is there wholly or not at all, and repeating it does it once. */
  async check(): Promise<Record<string, number>> {
    await this.stop();
    assert.deepEqual(this.faults, []);
    const before = await this.present();
    const lost = [...this.made.keys()].filter((name) => !before.has(name) && !this.mayBeDeleted(name));
    assert.deepEqual(lost, [], 'every department that was acknowledged is there');
    assert.deepEqual(
      this.deleted.filter((name) => before.has(name)),
      [],
      'every deletion that was acknowledged is done',
    );
    const inDoubt = this.inDoubt;
    this.inDoubt = [];
    for (const write of inDoubt) {
      const there = write.names.filter((name) => before.has(name)).length;
      assert.ok(there === 0 || there === write.names.length, 'nothing is half done');
      assert.ok(await this.tryUntilDone(write), 'a repeated write is done');
    }
    assert.deepEqual(this.faults, []);
    const after = await this.present();
    const gone = new Set(this.deleted);
    const expected = [...this.made].filter(([name]) => !gone.has(name)).sort();
    assert.deepEqual([...after].sort(), expected, 'each is there once, under the id that was told, and nothing else');
    return { acknowledged: this.acknowledged, inDoubt: inDoubt.length, lost: lost.length, slowestMs: this.slowestMs };
  }

  /** Deletes all that it wrote, for the next one to begin with nothing. */
  async clear(): Promise<void> {
    const ids = [...(await this.present()).values()];
    while (ids.length > 0) {
      const answer = await this.client.delete(`/system/dept-api/${ids.splice(0, 500)}`);
      assert.equal(answer.code, 200, answer.text);
    }
  }

  private mayBeDeleted = (name: string) =>
    this.deleted.includes(name) || this.inDoubt.some((write) => write.ids && write.names.includes(name));

  /** The departments as the service shows them: each name once, with its id. */
  private async present(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let pageNum = 1; ; pageNum++) {
      const { data, text } = await this.client.get(`/system/dept-api/list?pageNum=${pageNum}&pageSize=500`);
      assert.ok(data?.rows, text);
      for (const { deptName, deptId } of data.rows) {
        assert.ok(!found.has(deptName), 'no department is there twice');
        found.set(deptName, String(deptId));
      }
      if (data.rows.length < 500) return found;
    }
  }
}
