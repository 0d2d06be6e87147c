// Only with test:long: it restarts the service and its database again and again, kill-service.test.ts covers a crash, and races/quota-keys.test.ts covers that each key counts once.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { postgresOf, startWithoutDeadlines, usedDataFolder } from '../support/process.ts';
import { firstSeed, report, seededRandom } from '../support/scale.ts';
import { Client, PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const QUOTAS = '/system/quota-api';

/** A use with its own idempotency key: consumed at once, or reserved and then confirmed. */
interface Use {
  key: string;
  amount: number;
  isReserved: boolean;
}

interface Sum {
  amount: number;
  uses: number;
}

test('no use is lost or counted twice when the service and its database are killed under load', async (t) => {
  const { below } = seededRandom(firstSeed);
  const dataDir = await usedDataFolder();
  let run = startWithoutDeadlines(dataDir);
  const root = await run.admin();
  let { base } = root;
  const id = await root.create('/system/tenant-api', { tenantName: 't', username: 'boss', password: PASSWORD });
  const { tenantId } = (await root.get(`/system/tenant-api/${id}`)).data;
  const total = 1_000_000;
  assert.equal((await root.put(`${QUOTAS}/calls?tenantId=${tenantId}`, { total })).code, 200);
  const login = await root.post('/auth/login', { tenantId, username: 'boss', password: PASSWORD });
  const { access_token: token } = login.data;

  const done: Use[] = [];
  let inDoubt: Use[] = [];
  const faults: string[] = [];
  /** Sends a request with the key of the use. Returns its data, or undefined if the outcome is unknown. */
  const send = async (use: Use, step: string, path: string, body?: object) => {
    const headers = { 'idempotency-key': `${step} ${use.key}` };
    const response = await new Client(base, token).post(`${QUOTAS}/${path}`, body, { headers }).catch(() => undefined);
    if (!response || response.status === 503) return undefined;
    if (response.code !== 200) faults.push(response.text);
    return response.code === 200 ? response.data : undefined;
  };
  const perform = async (use: Use): Promise<boolean> => {
    const { amount, isReserved } = use;
    if (!isReserved) return (await send(use, 'consume', 'consume', { quota: 'calls', amount })) !== undefined;
    const reserved = await send(use, 'reserve', 'reserve', { quota: 'calls', amount, seconds: 86_400 });
    if (!reserved) return false;
    return (await send(use, 'confirm', `reservations/${reserved.reservationId}/confirm`)) !== undefined;
  };
  const work = async () => {
    for (;;) {
      const use = { key: randomUUID(), amount: 1 + below(5), isReserved: below(2) === 0 };
      if (!(await perform(use))) return void inDoubt.push(use);
      done.push(use);
    }
  };

  const kills = 10;
  for (let kill = 0; kill < kills; kill++) {
    const workers = Promise.all(Array.from({ length: 8 }, work));
    const expected = done.length + 20 + below(20);
    await waitFor('uses are acknowledged', () => done.length >= expected);
    const { pid } = postgresOf(dataDir);
    if (kill % 2 === 0) process.kill(pid, 'SIGKILL');
    await run.kill('SIGKILL');
    await workers;
    run = startWithoutDeadlines(dataDir);
    base = (await run.ready()).base;
    // Repeat the uses in doubt with the same keys: each must count exactly once.
    const repeated = inDoubt;
    inDoubt = [];
    for (const use of repeated) {
      assert.ok(await perform(use), 'a repeated request succeeds');
      done.push(use);
    }
    assert.deepEqual(faults, []);
    const { data } = await new Client(base, token).get(QUOTAS);
    const calls = data.find(({ quota }: { quota: string }) => quota === 'calls');
    const used = done.reduce((sum, { amount }) => sum + amount, 0);
    assert.deepEqual([calls.used, calls.reserved, calls.left], [used, 0, total - used]);
    const uses = await new Client(base, token).get(`${QUOTAS}/uses?pageSize=1`);
    assert.equal(uses.data.total, done.length);
    const { data: sums } = await new Client(base, token).get(`${QUOTAS}/usage?quota=calls&by=user`);
    const add = (field: 'amount' | 'uses') => sums.reduce((sum: number, each: Sum) => sum + each[field], 0);
    assert.deepEqual([add('amount'), add('uses')], [used, done.length]);
    report(t, { kill, uses: done.length, repeated: repeated.length, used, seed: firstSeed });
  }
  assert.equal(await run.stop(), 0, run.stderr);
});
