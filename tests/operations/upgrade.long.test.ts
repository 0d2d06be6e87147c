// Only with test:long: it starts two more nodes with sixteen writers; upgrade.test.ts migrates under the load of one node.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { migrate } from '../../db/migrate.ts';
import { verifyLedger } from '../../server/ledger/verify.ts';
import { databaseOf, startNode } from '../faults/node.ts';
import { Writer } from '../faults/writer.ts';
import { project } from '../support/process.ts';
import { report } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';
import { checkMigration, laterSchema } from './later-schema.ts';

const dept = '/system/dept-api';

test('two nodes of the last release keep working on the tables of the next one, and their ledger stays intact', async (t) => {
  // No release has been published yet, so this version stands for the last one.
  const service = await startService();
  const database = await databaseOf(service);
  const nodes = await Promise.all([1, 2].map(() => startNode(database, { timing: { sealMs: 100 } })));
  const writers = await Promise.all(
    nodes.map(async (node) => new Writer(node.as(await service.createTenant({ tenantName: node.base })))),
  );
  for (const writer of writers) writer.start(8);
  const everyWriterWrites = () => Promise.all(writers.map((writer) => writer.waitForAcknowledged(500)));
  await everyWriterWrites();
  // The migration does only what is allowed while older nodes run. A function is replaced by an equivalent one.
  const expansion = `
    alter table departments add column fax text not null default '', add column cost_center text;
    create table fax_numbers (tenant_id bigint not null, number text not null, primary key (tenant_id, number));
    create index departments_fax on departments (tenant_id, fax);`;
  assert.deepEqual(checkMigration('0002_fax.sql', expansion, ['0001_baseline.sql']), []);
  const readDepartments = fs.readFileSync(path.join(project, 'db/schema/functions/read_departments.sql'), 'utf8');
  const schema = laterSchema({
    '0002_fax.sql': expansion,
    'functions/read_departments.sql': `${readDepartments}\n-- of the next release\n`,
  });
  await migrate(service.owner, () => {}, schema);
  await everyWriterWrites();
  // A node of the next release writes the new columns. The older nodes leave them alone.
  const admin = writers[0]?.client as Client;
  const id = await admin.createDepartment({ deptName: 'x' });
  await service.superuser.begin(async (tx) => {
    await tx`select set_config('banyan.tenant', ${admin.tenantId}, true), set_config('search_path', 'banyan', true)`;
    await tx`update departments set fax = '1', cost_center = '2' where tenant_id = ${admin.tenantId} and dept_id = ${id}`;
  });
  assert.equal((await admin.put(dept, { deptId: id, deptName: 'y' })).code, 200);
  const [row] =
    await service.superuser`select fax, cost_center, dept_name from banyan.departments where dept_id = ${id}`;
  assert.deepEqual({ ...row }, { fax: '1', cost_center: '2', dept_name: 'y' });
  assert.equal((await admin.delete(`${dept}/${id}`)).code, 200);
  for (const writer of writers) report(t, { ...(await writer.check()), ...writer.tally.counts });
  const { errors } = await verifyLedger(service.superuser, { ledgerDays: 'keep' });
  assert.deepEqual(errors, []);
});
