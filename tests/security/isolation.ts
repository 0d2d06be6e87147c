import type { Sql, Tx } from '../../db/driver.ts';
import { readServiceLogin } from '../../db/roles.ts';
import { afterFile } from '../support/cleanup.ts';
import { connectWithoutDeadline } from '../support/database.ts';
import { startService } from '../support/service.ts';
import { insertDelivery } from './cross-tenant.ts';

/** Helpers for tests of the second layer of isolation: the database separates tenants, whatever the code sends. */

/** Starts a service with two sibling tenants that have a row in every table, and a tenant below the first. */
export async function startIsolation() {
  // Disable background work: a statement that began before the revocations below would still remove the rows that have to stay.
  const service = await startService({}, { timing: { sealMs: 600_000, webhookPollMs: 600_000 } });
  const { superuser } = service;

  const { username: role, password } = (await readServiceLogin(superuser)) as { username: string; password: string };
  const address = new URL(service.databaseUrl);
  address.username = role;
  address.password = password;
  /** A single connection with the role of the service, so that a transaction would see what an earlier one left behind. */
  const connection = connectWithoutDeadline({ url: address.href });
  afterFile(() => connection.end());

  const tables = await superuser<{ name: string; enabled: boolean; forced: boolean; policies: number }[]>`
    select c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
      (select count(*) from pg_policy p where p.polrelid = c.oid) as policies
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relnamespace = 'banyan'::regnamespace and c.relkind in ('r', 'p') order by 1`;
  const names = tables.map(({ name }) => name);

  const [mine, other] = [await service.createTenant(), await service.createTenant()];
  const below = await service.createTenant({}, mine);
  for (const admin of [mine, other]) {
    const dept = await admin.createDepartment();
    await admin.put('/system/dept-api', { deptId: dept }, { headers: { 'idempotency-key': 'the same' } });
    // A move to a lower level stores the depth of the tree in department_trees.
    await admin.put('/system/dept-api', { deptId: await admin.createDepartment(), parentId: dept });
    await admin.createUser({ userName: 'anna', deptId: dept });
    const webhook = await admin.create('/system/webhook-api', { url: 'https://93.184.216.34/', status: '1' });
    await insertDelivery(superuser, admin.tenantId, webhook);
    const key = await admin.create('/system/key-api', { keyName: 'key', permissions: ['dept:read'] });
    await superuser`select banyan.record_key_uses(${[admin.tenantId]}, ${[key]}::bigint[], ${['127.0.0.1']})`;
    await superuser`select from banyan.take_request_tokens(${admin.tenantId}, 0, 1, 1, 5)`;
    await service.root.put(`/system/quota-api/calls?tenantId=${admin.tenantId}`, { total: 9, pooled: true });
    // Use more than 80 %, so that there is a notice.
    await admin.post('/system/quota-api/consume', { quota: 'calls', amount: 8 });
    await admin.post('/system/quota-api/reserve', { quota: 'calls', seconds: 86_400 });
    await superuser`insert into banyan.imported_records values (${admin.tenantId}, 'ruoyi', 'user', '1', '{}')`;
    await superuser`insert into banyan.imported_tenants values (${admin.tenantId}, 'ruoyi', '1', '123456', 1, '{}')`;
  }
  const A = mine.tenantId;
  const B = other.tenantId;
  // Sealing deletes the rows of unsealed_changes. These two stay, because the service may no longer delete any.
  await superuser`revoke delete on banyan.unsealed_changes from ${superuser(role)}`;
  for (const tenantId of [A, B]) await superuser`insert into banyan.unsealed_changes values (${tenantId}, 0)`;
  // Do the same for unordered_changes: put all changes in order, then revoke the right to do so from the service.
  await superuser`select banyan.order_changes(1000)`;
  await superuser`revoke execute on function banyan.order_changes from ${superuser(role)}`;
  for (const tenantId of [A, B]) await superuser`insert into banyan.unordered_changes values (${tenantId}, 0, false)`;
  await superuser`insert into banyan.changes_archive select * from banyan.changes`;
  await superuser`insert into banyan.quota_uses_archive select * from banyan.quota_uses`;
  await superuser`insert into banyan.tenant_versions_archive select * from banyan.tenant_versions`;

  const setTenant = (tx: Tx, tenantId: string) => tx`select set_config('banyan.tenant', ${tenantId}, true)`;
  const inTenant = <T>(tenantId: string, work: (tx: Tx) => Promise<T>) =>
    connection.begin(async (tx) => {
      await setTenant(tx, tenantId);
      return work(tx);
    });

  return { service, superuser, role, address, connection, tables, names, mine, other, below, A, B, inTenant };
}

export const codesIn = async (sql: Sql | Tx, table: string): Promise<string[]> => {
  const rows = await sql<{ code: string }[]>`select distinct tenant_id as code from ${sql(table)} order by 1`;
  return rows.map(({ code }) => code);
};
export const isError = (code: string, message: RegExp) => (error: { code?: string; message: string }) =>
  error.code === code && message.test(error.message);
export const isPolicyViolation = isError('42501', /row-level security/);
export const isPermissionDenied = isError('42501', /permission denied|must be owner/);
export const isRowSecurityOff = isError('42501', /query would be affected by row-level security/);
