// Only with test:long: it sends two megabytes to a chain of thirty tenants; ledger-size.test.ts covers how versions are stored and archived.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { verifyLedger } from '../../server/ledger/verify.ts';
import { CHANGES, TENANTS } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';

const service = await startService();
const { superuser, owner } = service;

const sizeOfLedger = async (): Promise<number> => {
  const [row] = await superuser<[{ size: number }]>`
    select sum(pg_total_relation_size(('banyan.' || t)::regclass))::bigint as size
    from unnest(array['changes', 'tenant_versions', 'seals', 'unsealed_changes']) t`;
  return row.size;
};

const RULES = ['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'];
/** Rules with random texts, which can hardly be compressed. */
const largeRules = () => Object.fromEntries(RULES.map((key) => [key, randomBytes(49_000).toString('base64')]));

/**
 * Creates a chain of tenants, each below the previous one. Returns the administrators of the first, the last but one and the
 * last.
 */
async function createChain(depth: number) {
  const top = await service.createTenant();
  let parent: Client = top;
  for (let level = 1; level < depth - 1; level++) parent = await service.createTenant({}, parent);
  return { top, parent, last: await service.createTenant({}, parent) };
}

test('a large record of a deep tenant is stored once, and every ledger above shows it', async (t) => {
  const { top, parent, last } = await createChain(30);
  const before = await sizeOfLedger();
  const bodies = Array.from({ length: 4 }, (_, n) => ({
    id: last.id,
    tenantName: `version ${n}`,
    ruleBo: largeRules(),
  }));
  for (const body of bodies) assert.equal((await parent.put(TENANTS, body)).code, 200);
  const sent = bodies.reduce((sum, body) => sum + JSON.stringify(body).length, 0);
  const stored = (await sizeOfLedger()) - before;
  t.diagnostic(`${sent} bytes sent, the ledger grew by ${stored} bytes`);
  assert.ok(stored < sent * 1.5, `${sent} bytes sent, ${stored} stored`);
  for (const client of [top, parent, last]) {
    const { data } = await client.get(`${CHANGES}/list?resource=tenant&resourceId=${last.id}&below=false&limit=2`);
    const [newest, older] = data.rows;
    assert.deepEqual(newest.after.ruleBo, bodies[3]?.ruleBo);
    assert.deepEqual([newest.before, older.after.ruleBo], [older.after, bodies[2]?.ruleBo]);
  }
  // A change in a ledger above is reverted with the version to which it refers.
  const { data } = await top.get(`${CHANGES}/list?resource=tenant&resourceId=${last.id}&below=false&limit=1`);
  const reverted = await top.post(`${CHANGES}/${data.rows[0].id}/revert`);
  assert.equal(reverted.code, 200, reverted.text);
  assert.deepEqual((await top.get(`${TENANTS}/${last.id}`)).data.ruleBo, bodies[2]?.ruleBo);
  assert.deepEqual((await verifyLedger(owner)).errors, []);
});
