// Only with test:long: it needs hundreds of ledgers and a service of its own; ledger.test.ts covers the rule with seven ledgers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

test('many ledgers that cannot be sealed do not block the sealing of others', async () => {
  const { superuser, ...node } = await startService({}, { timing: { sealMs: 20 } });
  const admin = await node.createTenant();
  // There are more of them than one round visits, and their codes come before all others.
  await superuser.unsafe(`
    create function banyan.keep_unsealed() returns trigger language plpgsql as $$ begin raise exception 'rejected'; end $$;
    create trigger keep_unsealed before delete on banyan.unsealed_changes for each row
      when (old.tenant_id like '00000-%') execute function banyan.keep_unsealed();
    insert into banyan.unsealed_changes select '00000-' || n, n from generate_series(1, 250) n`);
  await admin.createDepartment();
  await waitFor('the other ledger is sealed', async () => {
    const unsealed = await superuser`select from banyan.unsealed_changes where tenant_id = ${admin.tenantId}`;
    return unsealed.count === 0;
  });
  const [failing] = await superuser`select count(*)::int from banyan.unsealed_changes where tenant_id like '00000-%'`;
  assert.equal(failing?.count, 250);
});
