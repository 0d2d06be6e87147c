import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Tally } from '../support/scale.ts';
import { type ApiResponse, Client, PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** A write with its own idempotency key: the creation of one department, or the deletion of two. */
interface Write {
  key: string;
  names: string[];
  /** The ids to delete. Without them a department is created. */
  ids?: string[];
}

/**
 * Writes continuously, records which writes were acknowledged and which are in doubt, and checks both afterwards over HTTP.
 * Any response other than success or 503 with Retry-After is a fault.
 */
export class Writer {
  client: Client;
  readonly tally = new Tally();
  readonly faults: string[] = [];
  acknowledged = 0;
  slowestMs = 0;
  private readonly created = new Map<string, string>();
  private readonly deleted: string[] = [];
  private inDoubt: Write[] = [];
  private workers: Promise<unknown> | undefined;
  private stopped = false;

  constructor(client: Client) {
    this.client = client;
  }

  /** Writes until `stop` is called, or until the service has stopped: a broken connection ends a worker. */
  start(workers = 8): void {
    this.stopped = false;
    this.workers = Promise.all(Array.from({ length: workers }, () => this.work()));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.workers;
  }

  async waitForAcknowledged(more: number): Promise<void> {
    const expected = this.acknowledged + more;
    await waitFor(`${more} more writes are acknowledged`, () => this.acknowledged >= expected).catch((cause) => {
      throw new Error(`No more writes are acknowledged: ${JSON.stringify(this.tally.counts)}`, { cause });
    });
  }

  /** Continues at another address of the service. */
  moveTo(base: string): void {
    this.client = new Client(base, this.client.token);
  }

  private async work(): Promise<void> {
    while (!this.stopped) {
      const pair: Write[] = [1, 2].map(() => ({ key: randomUUID(), names: [randomUUID()] }));
      for (const write of pair) if (!(await this.retryUntilDone(write))) return;
      const names = pair.flatMap((write) => write.names);
      // Delete about every fourth pair.
      if (this.deleted.length > this.created.size / 4) continue;
      const ids = names.map((name) => this.created.get(name) as string);
      if (!(await this.retryUntilDone({ key: randomUUID(), names, ids }))) return;
    }
  }

  /** Retries, with the same key, while the response is 503. Returns whether the write succeeded. */
  private async retryUntilDone(write: Write): Promise<boolean> {
    for (;;) {
      const response = await this.send(write).catch((error) => {
        this.tally.add(error.code ?? error.message);
        return undefined;
      });
      if (response?.code === 200) return true;
      if (this.stopped || response?.status !== 503) {
        this.inDoubt.push(write);
        return false;
      }
      await setTimeout(50);
    }
  }

  private async send({ key, names, ids }: Write): Promise<ApiResponse> {
    const began = performance.now();
    const options = { headers: { 'idempotency-key': key } };
    const response = ids
      ? await this.client.delete(`/system/dept-api/${ids}`, options)
      : await this.client.post('/system/dept-api', { deptName: names[0] }, options);
    const ms = Math.round(performance.now() - began);
    this.slowestMs = Math.max(this.slowestMs, ms);
    this.tally.add(response.code === 200 ? 'done' : (response.data?.reason ?? response.status));
    if (response.code === 200) {
      this.acknowledged++;
      if (ids) this.deleted.push(...names);
      else this.created.set(names[0] as string, String(response.headers.location).split('/').at(-1) as string);
    } else if (response.status !== 503 || !response.headers['retry-after']) {
      this.faults.push(response.text);
    }
    return response;
  }

  /** Asserts that acknowledged writes are visible, that writes in doubt are atomic, and that retrying those applies them once. */
  async check(): Promise<Record<string, number>> {
    await this.stop();
    assert.deepEqual(this.faults, []);
    const before = await this.readAll();
    const lost = [...this.created.keys()].filter((name) => !before.has(name) && !this.mayBeDeleted(name));
    assert.deepEqual(lost, [], 'every acknowledged department exists');
    assert.deepEqual(
      this.deleted.filter((name) => before.has(name)),
      [],
      'no department whose deletion was acknowledged exists',
    );
    const inDoubt = this.inDoubt;
    this.inDoubt = [];
    for (const write of inDoubt) {
      const present = write.names.filter((name) => before.has(name)).length;
      assert.ok(present === 0 || present === write.names.length, 'no write is half applied');
      assert.ok(await this.retryUntilDone(write), 'a retried write succeeds');
    }
    assert.deepEqual(this.faults, []);
    const after = await this.readAll();
    const deleted = new Set(this.deleted);
    const expected = [...this.created].filter(([name]) => !deleted.has(name)).sort();
    assert.deepEqual(
      [...after].sort(),
      expected,
      'exactly the acknowledged departments exist, with the ids of their responses',
    );
    return { acknowledged: this.acknowledged, inDoubt: inDoubt.length, lost: lost.length, slowestMs: this.slowestMs };
  }

  private mayBeDeleted = (name: string) =>
    this.deleted.includes(name) || this.inDoubt.some((write) => write.ids && write.names.includes(name));

  /** Reads all departments: their names, which must be unique, and their ids. */
  private async readAll(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let pageNum = 1; ; pageNum++) {
      const { data, text } = await this.client.get(`/system/dept-api/list?pageNum=${pageNum}&pageSize=500`);
      assert.ok(data?.rows, text);
      for (const { deptName, deptId } of data.rows) {
        assert.ok(!found.has(deptName), 'no department exists twice');
        found.set(deptName, String(deptId));
      }
      if (data.rows.length < 500) return found;
    }
  }
}

/** Creates a tenant, and a writer that writes as its administrator. */
export async function createWriter(root: Client, base = root.base): Promise<Writer> {
  const id = await root.create('/system/tenant-api', { tenantName: 't', username: 'boss', password: PASSWORD });
  const { tenantId } = (await root.get(`/system/tenant-api/${id}`)).data;
  const { data } = await new Client(base).post('/auth/login', { tenantId, username: 'boss', password: PASSWORD });
  return new Writer(new Client(base, data.access_token));
}
