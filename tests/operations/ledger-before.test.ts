import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { verifyLedger } from '../../db/ledger.ts';
import { connectOwner } from '../../db/sql.ts';
import { readInTenant, writeInTenant } from '../../db/tenancy.ts';
import { changesAfter, sealAll } from '../../server/changes/changes.ts';
import { createEmptyDatabase, NO_DEADLINES } from '../support/database.ts';

/** A database from before the ledger: what is in it begins the ledger, in an order that can be followed. */

const BEFORE = 8;
const folder = new URL('../../../db/migrations/', import.meta.url);

async function databaseBefore() {
  const { databaseUrl, superuserUrl } = await createEmptyDatabase();
  const owner = connectOwner({ url: databaseUrl });
  const superuser = connectOwner({ url: superuserUrl });
  await owner`create schema banyan`;
  await owner`
    create table banyan.migrations (
      version int primary key, name text not null, checksum text not null, applied timestamptz not null default now()
    )`;
  for (const name of fs.readdirSync(folder).sort().slice(0, BEFORE)) {
    const text = fs.readFileSync(new URL(name, folder), 'utf8');
    await owner.unsafe(text);
    const checksum = createHash('sha256').update(text).digest('hex');
    await owner`insert into banyan.migrations values (${Number(name.slice(0, 4))}, ${name}, ${checksum})`;
  }
  return { databaseUrl, owner, superuser };
}

test('what was there before is told parents first, sealed in every ledger, and verifies', async (t) => {
  const { databaseUrl, owner, superuser } = await databaseBefore();
  t.after(() => Promise.all([owner.end(), superuser.end()]));
  for (const path of [['000000'], ['000000', '111111'], ['000000', '111111', '222222']]) {
    const code = path.at(-1) as string;
    await superuser`
      insert into banyan.tenants (tenant_id, id, parent_id, path, tenant_name, quotas, rules, create_by)
      values (${code}, banyan.next_tenant_id(), ${path.at(-2) ?? null}, ${path}, ${code}, '{}', '{}', 'before')`;
  }
  // A child with a smaller id than its parent, below which it was moved; and a branch that is deleted.
  await superuser`
    insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, create_by)
    values ('222222', 203, null, 'top', 'before'), ('222222', 201, 203, 'low', 'before')`;
  await superuser`
    insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, create_by, del_flag, update_by, update_time)
    values ('222222', 300, null, 'gone', 'before', '2', 'later', now()), ('222222', 301, 300, 'too', 'before', '2', 'later', now())`;
  const db = await openDatabase({ databaseUrl, dataDir: '', timeZone: 'UTC', timing: NO_DEADLINES });
  t.after(() => db.close());
  await sealAll(db);

  const { faults } = await verifyLedger(owner);
  assert.deepEqual(faults, []);
  const told = async (tenantId: string) => {
    const { rows } = await writeInTenant(db, tenantId, (tx) => changesAfter(tx, tenantId, 0, 100));
    return rows.map(({ resource, action, before, after }) => {
      const record = (after ?? before) as Record<string, unknown>;
      return [resource, action, record.deptName ?? record.tenantName, record.delFlag ?? ''].join(' ');
    });
  };
  assert.deepEqual(await told('222222'), [
    'tenant created 222222 ',
    'department created top 0',
    'department created gone 0',
    'department created low 0',
    'department created too 0',
    'department deleted too 0',
    'department deleted gone 0',
  ]);
  assert.deepEqual(await told('000000'), [
    'tenant created 000000 ',
    'tenant created 111111 ',
    'tenant created 222222 ',
  ]);
  const [{ left }] = await readInTenant(
    db,
    '000000',
    (tx) => tx<[{ left: number }]>`select count(*)::int as left from unsealed`,
  );
  assert.equal(left, 0);
});
