import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { archiveLedger } from '../../server/ledger/archive.ts';
import { verifyLedger } from '../../server/ledger/verify.ts';
import { CHANGES, TENANTS } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';

const service = await startService();
const { superuser, owner } = service;

const sizeOfLedger = async (): Promise<number> => {
  const [row] = await superuser<[{ size: number }]>`
    select sum(pg_total_relation_size(('banyan.' || t)::regclass))::bigint as size
    from unnest(array['changes', 'tenant_versions', 'seals', 'unsealed_changes']) t`;
  return row.size;
};

/** Texts that cannot be compressed. */
const RULES = ['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'];
const largeRules = () => Object.fromEntries(RULES.map((key) => [key, randomBytes(49_000).toString('base64')]));

/** Creates tenants below each other and returns the administrators of the first and of the last but one, and the last. */
async function createChain(depth: number) {
  const top = await service.createTenant();
  let parent: Client = top;
  for (let level = 1; level < depth - 1; level++) parent = await service.createTenant({}, parent);
  return { top, parent, last: await service.createTenant({}, parent) };
}

test('a large record of a deep tenant is stored once, and every ledger above shows it', async (t) => {
  const { top, parent, last } = await createChain(scale(8, 30));
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

test('versions move to the archive when no ledger needs them, also after the tenant was moved', async () => {
  const above = await service.createTenant();
  const [from, to] = [await service.createTenant({}, above), await service.createTenant({}, above)];
  const team = await service.createTenant({ tenantName: 'zero' }, from);
  const rename = (tenantName: string, tenantParent?: string) =>
    above.put(TENANTS, { id: team.id, tenantName, ...(tenantParent ? { tenantParent } : {}) });
  for (const name of ['one', 'two']) await rename(name);
  await rename('two', to.tenantId);
  for (const name of ['three', 'four']) await rename(name);
  const feedsOf = () =>
    Promise.all(
      [service.root, above, from, to, team].map(async (c) => (await c.get(`${CHANGES}?limit=500`)).data.rows),
    );
  const feeds = await feedsOf();
  await superuser.begin(async (tx) => {
    // The service seals in the background: it must not continue a chain that is being deleted.
    // The tables are locked in the order in which seal_changes uses them.
    await tx`lock table banyan.unsealed_changes, banyan.seal_heads`;
    await tx`update banyan.changes set time = time - interval '10 days'`;
    await tx`delete from banyan.seals`;
    await tx`delete from banyan.seal_heads`;
    await tx`insert into banyan.unsealed_changes select tenant_id, change_id from banyan.changes on conflict do nothing`;
  });
  const aged = await feedsOf();
  const contentsOf = (rows: { before: unknown; after: unknown }[]) => rows.map(({ before, after }) => [before, after]);
  assert.deepEqual(aged.map(contentsOf), feeds.map(contentsOf));
  await archiveLedger(owner, 5);
  assert.deepEqual(await feedsOf(), aged, 'subscribers see archived versions');
  const [{ kept }] = await superuser<[{ kept: number }]>`
    select count(*)::int as kept from banyan.tenant_versions where tenant_id = ${team.tenantId}`;
  const [{ archived }] = await superuser<[{ archived: number }]>`
    select count(*)::int as archived from banyan.tenant_versions_archive where tenant_id = ${team.tenantId}`;
  assert.ok(archived > 0 && kept > 0, `${archived} archived, ${kept} kept`);
  await superuser`truncate banyan.changes_archive, banyan.tenant_versions_archive`;
  assert.deepEqual((await verifyLedger(owner, { ledgerDays: 5 })).errors, []);
  // The former parent keeps the version that it saw last.
  const left = (await from.get(`${CHANGES}?limit=500`)).data.rows.at(-1);
  assert.deepEqual([left.action, left.before.tenantName, left.after], ['moved', 'two', null]);
});
