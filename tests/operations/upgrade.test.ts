import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrate } from '../../db/migrate.ts';
import { department } from '../../server/departments/record.ts';
import { startService } from '../support/service.ts';
import { checkMigration, checkMigrations, laterSchema } from './later-schema.ts';

/** Upgrades: the schema of a later version on a database with data, and the history from before it. */

const dept = '/system/dept-api';

test('a database is upgraded under load, and no write is lost', async () => {
  const service = await startService();
  const admin = await service.createTenant();
  const first = await admin.createDepartment({ deptName: 'before the upgrade' });
  const [{ now }] = await service.superuser<[{ now: string }]>`
    select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`;
  const schema = laterSchema({
    '9999_telex.sql': "alter table departments add column telex text not null default '';",
    'functions/department_telex.sql':
      "create or replace function department_telex() returns text language sql as 'select ''telex''::text';",
  });
  let upgraded = false;
  const created: string[] = [];
  const write = async (writer: number) => {
    // Write until the upgrade is done, and once more afterwards.
    for (let last = false, n = 0; !last; n++) {
      last = upgraded;
      const id = await admin.createDepartment({ parentId: first, deptName: `${writer}-${n}` });
      created.push(id);
      assert.equal((await admin.put(dept, { deptId: id, deptName: `${writer}-${n} updated` })).code, 200);
      assert.equal((await admin.get(`${dept}/${id}`)).data.deptName, `${writer}-${n} updated`);
    }
  };
  const writers = Promise.all([0, 1, 2, 3].map(write));
  await migrate(service.owner, () => {}, schema).finally(() => {
    upgraded = true;
  });
  await writers;
  const children: string[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const { data } = await admin.get(`${dept}/${first}/children?limit=500&cursor=${next}`);
    children.push(...data.rows.map(({ deptId }: { deptId: number }) => String(deptId)));
    next = data.next;
  }
  assert.deepEqual(children.sort(), created.sort());
  const [{ telex }] = await service.superuser<[{ telex: string }]>`select banyan.department_telex() as telex`;
  assert.equal(telex, 'telex');
  // The ledger records the new column from now on, and earlier changes can still be read.
  const [last] = await service.superuser<[{ after: object }]>`
    select after from banyan.changes where tenant_id = ${admin.tenantId} order by change_id desc limit 1`;
  assert.ok('telex' in last.after);
  assert.equal((await admin.get(`${dept}/${first}?asOf=${now}`)).data.deptName, 'before the upgrade');
  // A second start of the later version changes nothing.
  const lines: string[] = [];
  await migrate(service.owner, (line) => void lines.push(line), schema);
  assert.deepEqual(lines, []);
});

test('a migration that would break nodes of the last release is rejected, unless it completes an earlier one', () => {
  const earlier = ['0001_baseline.sql', '0002_fax.sql'];
  const check = (sql: string) => checkMigration('0003_next.sql', sql, earlier);
  for (const statement of [
    'alter table departments drop column fax;',
    'ALTER TABLE departments\n  DROP fax;',
    'alter table departments rename column leader to head;',
    'alter table departments rename to units;',
    'alter table departments alter column phone type bigint using phone::bigint;',
    'alter table departments alter phone set data type varchar(5);',
    'alter table departments alter column phone set not null;',
    'alter table departments alter column order_num drop default;',
    'alter table departments add column fax text not null;',
    "alter table departments add column fax text default '', add telex text not null;",
    "alter table departments add constraint short check (dept_name < 'x');",
    'create unique index departments_phone on departments (tenant_id, phone);',
    'drop table departments;',
    'drop function read_departments(bigint[]);',
    'drop trigger record_updates on departments;',
  ]) {
    assert.equal(check(statement).length, 1, statement);
    assert.match(check(statement).join(), /^0003_next\.sql: ".*: nodes of the last release may fail/s);
    // The comment applies only to the statement below it.
    assert.deepEqual(check(`-- contracts: 0002_fax.sql\n${statement}`), [], statement);
    assert.equal(check(`-- contracts: 0002_fax.sql\n${statement}${statement}`).length, 1, statement);
    assert.match(check(`-- contracts: 0009_other.sql\n${statement}`).join(), /no earlier migration 0009_other\.sql/);
  }
  for (const statement of [
    "alter table departments add column fax text not null default '';",
    "alter table departments alter phone set default ''; alter table departments alter column phone set not null;",
    'alter table departments alter column phone drop not null, drop constraint short;',
    'create table faxes (n int); create unique index faxes_n on faxes (n); alter table faxes add check (n > 0);',
    "comment on column departments.phone is 'drop table; rename';",
    'create or replace function f() returns int language plpgsql as $$ begin drop table pg_temp.x; return 1; end $$;',
    '-- drop table departments;\ndrop index departments_fax;',
  ]) {
    assert.deepEqual(check(statement), [], statement);
  }
  assert.deepEqual(checkMigrations(), []);
});

test('reads of the past and reverts survive fields that were added, removed and renamed', async () => {
  const service = await startService();
  const admin = await service.createTenant();
  const { superuser } = service;
  const id = await admin.createDepartment({ deptName: 'A', leader: '张三', phone: '1', email: 'a@b.cn' });
  // An earlier version of the schema had a telex number, another name for the leader, and no email.
  await superuser`
    alter table banyan.departments drop column email, add column telex text not null default 'none'`;
  await superuser`alter table banyan.departments rename column leader to head`;
  /** Sets another leader as the earlier version would. Returns the time of the change. */
  const updateHead = async (head: string) => {
    await superuser.begin(async (tx) => {
      await tx`select set_config('banyan.tenant', ${admin.tenantId}, true), set_config('search_path', 'banyan', true)`;
      await tx`
        update departments set head = ${head}, telex = '2', update_by = 'earlier version', update_time = now()
        where tenant_id = ${admin.tenantId} and dept_id = ${id}`;
    });
    const [{ time }] = await superuser<[{ time: string }]>`
      select to_char(time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time from banyan.changes
      where tenant_id = ${admin.tenantId} order by change_id desc limit 1`;
    return time;
  };
  const first = await updateHead('李四');
  const second = await updateHead('王五');
  // Migrate to this version.
  await superuser`alter table banyan.departments add column email text default 'new@b.cn', drop column telex`;
  await superuser`alter table banyan.departments rename column head to leader`;
  const leader = Object.assign(department.fields.leader, { formerColumns: ['head'] });
  try {
    const past = (await admin.get(`${dept}/${id}?asOf=${first}`)).data;
    assert.deepEqual([past.leader, past.email, past.phone, past.telex], ['李四', null, '1', undefined]);
    const { data: list } = await admin.get(`${dept}/list?asOf=${second}&leader=${encodeURIComponent('王')}`);
    assert.deepEqual([list.total, list.rows[0].leader], [1, '王五']);
    const { data: tree } = await admin.get(`${dept}/tree?asOf=${first}`);
    assert.equal(tree[0].leader, '李四');
    const { data: diff } = await admin.get(`${dept}/diff?from=${first}&to=${second}`);
    assert.deepEqual(diff.changed[0].fields, [{ field: 'leader', from: '李四', to: '王五' }]);
    const { data: history } = await admin.get(`${dept}/${id}/history`);
    assert.deepEqual(
      history.rows.map(({ changed }: { changed: string[] }) => changed),
      [['leader'], ['leader'], []],
    );
    // A revert does not touch a field that the changed rows did not have.
    assert.equal((await admin.post(`/system/change-api/${history.rows[0].id}/revert`)).code, 200);
    assert.equal((await admin.get(`${dept}/${id}`)).data.leader, '李四');
    assert.equal((await admin.post(`/system/change-api/${history.rows[1].id}/revert`)).code, 200);
    const now = (await admin.get(`${dept}/${id}`)).data;
    assert.deepEqual([now.leader, now.email, now.phone], ['张三', 'new@b.cn', '1']);
  } finally {
    leader.formerColumns.length = 0;
  }
});
