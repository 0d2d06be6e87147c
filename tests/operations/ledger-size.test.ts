import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveLedger } from '../../server/ledger/archive.ts';
import { verifyLedger } from '../../server/ledger/verify.ts';
import { CHANGES, TENANTS } from '../support/expect.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { superuser, owner } = service;

test('versions of the record of a tenant move to the archive when no ledger needs them, also after the tenant was moved', async () => {
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
