import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startService } from '../support/service.ts';

const service = await startService();
// Times are noted as texts of the writer's zone, and some tests write around the service.
await service.superuser`set time zone 'Asia/Shanghai'`;
const dept = '/system/dept-api';
const people = '/system/user-api';
const tenants = '/system/tenant-api';

const clock = async (form = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"', zone = 'UTC'): Promise<string> => {
  const [{ time }] = await service.superuser<[{ time: string }]>`
    select to_char(clock_timestamp() at time zone ${zone}, ${form}) as time`;
  return time;
};
const reasonOf = ({ status, data }: { status: number; data: { reason?: string } }) => `${status} ${data?.reason ?? ''}`;
const ids = (rows: { deptId: number }[]) => rows.map(({ deptId }) => String(deptId));

test('a department is read as it was: its fields, and its ancestors when one above it was moved', async () => {
  const boss = await service.createTenant();
  const before = await clock();
  const [a, b] = [await boss.createDepartment({ deptName: 'a' }), await boss.createDepartment({ deptName: 'b' })];
  const low = await boss.createDepartment({ deptName: 'low', parentId: a });
  const lowest = await boss.createDepartment({ deptName: 'lowest', parentId: low });
  const then = await clock();
  await boss.put(dept, { deptId: a, deptName: 'a', parentId: b });
  const moved = await clock();
  await boss.put(dept, { deptId: lowest, deptName: 'renamed' });
  await boss.delete(`${dept}/${lowest}`);
  const read = async (time: string) => (await boss.get(`${dept}/${lowest}?asOf=${time}`)).data;
  assert.equal((await read(then)).ancestors, `0,${a},${low}`);
  assert.equal((await read(moved)).ancestors, `0,${b},${a},${low}`);
  assert.equal((await read(moved)).deptName, 'lowest');
  assert.equal((await read(before)).reason, 'DEPT_NOT_FOUND');
  assert.equal((await read(await clock())).reason, 'DEPT_NOT_FOUND');
  const list = await boss.get(`${dept}/list?underId=${b}&withPath=true&sort=deptName&asOf=${moved}`);
  assert.deepEqual(
    list.data.rows.map(({ deptName, pathNames }: { deptName: string; pathNames: string[] }) => [deptName, pathNames]),
    [
      ['a', ['b']],
      ['low', ['b', 'a']],
      ['lowest', ['b', 'a', 'low']],
    ],
  );
  assert.equal((await boss.get(`${dept}/list?underId=${b}&asOf=${then}`)).data.total, 0);
  const children = await boss.get(`${dept}/${low}/children?asOf=${moved}`);
  assert.equal(children.data.rows[0].ancestors, `0,${b},${a},${low}`);
  assert.equal((await boss.get(`${dept}/${low}/children?asOf=${before}`)).status, 404);
  assert.equal((await boss.get(`${dept}/tree?rootId=${low}&asOf=${before}`)).status, 404);
  assert.deepEqual((await boss.get(`${dept}/tree?asOf=${before}`)).data, []);
});

test('a batch is deleted at one moment: before it all were there, from it on none', async () => {
  const boss = await service.createTenant();
  const made = [await boss.createDepartment(), await boss.createDepartment(), await boss.createDepartment()];
  await boss.delete(`${dept}/${made.join(',')}`);
  const [{ at, before }] = await service.superuser<[{ at: string; before: string }]>`
    select min(to_char(time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) as at,
      min(to_char((time - interval '1 microsecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) as before
    from banyan.changes where tenant_id = ${boss.tenantId} and action = 'deleted'`;
  assert.deepEqual(ids((await boss.get(`${dept}/list?asOf=${before}`)).data.rows), made);
  assert.deepEqual((await boss.get(`${dept}/list?asOf=${at}`)).data, { rows: [], total: 0 });
});

test('deleted, and restored around the service: it is there, away and there again', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment({ deptName: 'again' });
  const first = await clock();
  await boss.delete(`${dept}/${id}`);
  const away = await clock();
  await service.superuser`
    update banyan.departments set del_flag = '0', update_by = 'sql' where tenant_id = ${boss.tenantId} and dept_id = ${id}`;
  const again = await clock();
  const statuses = [];
  for (const time of [first, away, again]) {
    statuses.push((await boss.get(`${dept}/${id}?asOf=${time}`)).status);
    const { data } = await boss.get(`${dept}/0/children?asOf=${time}`);
    assert.deepEqual(ids(data.rows), time === away ? [] : [id]);
  }
  assert.deepEqual(statuses, [200, 404, 200]);
  const { data } = await boss.get(`${dept}/${id}/history?sort=time`);
  assert.deepEqual(
    data.rows.map(({ action }: { action: string }) => action),
    ['created', 'deleted', 'restored'],
  );
});

test('a moment: with an offset, in the configured zone, a day, a second; not a wrong one, not one to come', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment({ deptName: 'first' });
  const zone = 'Asia/Shanghai';
  const inZone = await clock('YYYY-MM-DD HH24:MI:SS.US', zone);
  const inUtc = await clock();
  const offset = (await clock('YYYY-MM-DD"T"HH24:MI:SS.US', 'Asia/Kolkata')).concat('+05:30');
  await boss.put(dept, { deptId: id, deptName: 'second' });
  for (const time of [inZone, inUtc, offset]) {
    const { data, text } = await boss.get(`${dept}/${id}?asOf=${encodeURIComponent(time)}`);
    assert.equal(data.deptName, 'first', `${time}: ${text}`);
  }
  // The beginning of the day, and of the second, in which it was made.
  const day = await clock('YYYY-MM-DD', zone);
  assert.equal((await boss.get(`${dept}/${id}?asOf=${day}`)).status, 404);
  const [{ second }] = await service.superuser<[{ second: string }]>`
    select to_char(min(time) at time zone ${zone}, 'YYYY-MM-DD"T"HH24:MI:SS') as second
    from banyan.changes where tenant_id = ${boss.tenantId} and resource = 'department'`;
  assert.equal((await boss.get(`${dept}/${id}?asOf=${second}`)).status, 404);
  const wrong = ['yesterday', '2026-02-31', '2026-01-01T25:00', '2026-01-01T08:00:00Z;', '0000-00-00', '1', 'now'];
  const later = await clock('"2199"-MM-DD"T"HH24:MI:SS"Z"');
  for (const time of [...wrong, later]) {
    for (const path of [
      `${dept}/${id}?`,
      `${dept}/${id}/children?`,
      `${dept}/tree?`,
      `${dept}/list?`,
      `${people}/1?`,
      `${tenants}/${boss.id}?`,
    ]) {
      const answer = await boss.get(`${path}asOf=${encodeURIComponent(time)}`, {
        headers: { 'accept-language': 'en' },
      });
      assert.equal(reasonOf(answer), '400 INVALID_FIELD', `${path} ${time}`);
      assert.equal(answer.data.field, 'asOf', `${path} ${time}`);
      if (time === later) assert.match(answer.msg, /future/);
    }
  }
});

test('what does not go with the past is refused by name', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment();
  const time = await clock();
  for (const [path, field] of [
    [`${dept}/${id}?includeDeleted=true`, 'includeDeleted'],
    [`${dept}/list?cursor=`, 'cursor'],
    [`${dept}/tree?counts=true`, 'counts'],
    [`${dept}/0/children?counts=true`, 'counts'],
  ]) {
    const answer = await boss.get(`${path}&asOf=${time}`);
    assert.deepEqual([answer.status, answer.data.field], [400, field], answer.text);
  }
});

test('children are read page by page, with who had children then', async () => {
  const boss = await service.createTenant();
  const made: string[] = [];
  for (let n = 0; n < 5; n++) made.push(await boss.createDepartment({ orderNum: 5 - n }));
  const below = await boss.createDepartment({ parentId: made[4] });
  const time = await clock();
  await boss.put(dept, { deptId: below, parentId: made[0] });
  const rows = [];
  for (let cursor = ''; ; ) {
    const { data } = await boss.get(`${dept}/0/children?limit=2&cursor=${cursor}&asOf=${time}`);
    rows.push(...data.rows);
    if (data.next === null) break;
    cursor = data.next;
  }
  assert.deepEqual(ids(rows), [...made].reverse());
  assert.deepEqual(
    rows.map(({ hasChildren }) => hasChildren),
    [true, false, false, false, false],
  );
});

test('tenants and users are read as they were, deleted ones too, by whom they are below today', async () => {
  const boss = await service.createTenant({ tenantName: 'boss' });
  const other = await service.createTenant();
  const early = await clock();
  const child = await boss.create(tenants, { tenantName: 'first', quotaBo: { merchant: 3, zr: 4 } });
  const home = await boss.createDepartment();
  const user = await boss.createUser({ userName: 'anna', deptId: home, nickName: 'A' });
  const [tenantThen, userThen] = [
    (await boss.get(`${tenants}/${child}`)).data,
    (await boss.get(`${people}/${user}`)).data,
  ];
  const time = await clock();
  // A changed password is in the ledger, and no change of the record.
  await service.superuser`
    update banyan.users set password_hash = 'another' where tenant_id = ${boss.tenantId} and user_id = ${user}`;
  assert.deepEqual((await boss.get(`${people}/${user}?asOf=${await clock()}`)).data, userThen);
  await boss.put(tenants, { id: child, tenantName: 'second' });
  await boss.delete(`${tenants}/${child}`);
  await boss.put(people, { userId: user, userName: 'anna', password: 'another horse' });
  await boss.delete(`${people}/${user}`);
  assert.equal((await boss.get(`${tenants}/${child}`)).status, 404);
  assert.deepEqual((await boss.get(`${tenants}/${child}?asOf=${time}`)).data, tenantThen);
  assert.deepEqual((await service.root.get(`${tenants}/${child}?asOf=${time}`)).data, tenantThen);
  assert.deepEqual((await boss.get(`${people}/${user}?asOf=${time}`)).data, userThen);
  const inTenant = `${people}/${user}?tenantId=${boss.tenantId}&asOf=${time}`;
  assert.deepEqual((await service.root.get(inTenant)).data, userThen);
  assert.equal(reasonOf(await other.get(inTenant)), '403 OTHER_TENANT');
  assert.equal(reasonOf(await boss.get(`${tenants}/${child}?asOf=${early}`)), '404 TENANT_NOT_FOUND');
  assert.equal(reasonOf(await boss.get(`${people}/${user}?asOf=${early}`)), '404 USER_NOT_FOUND');
  assert.equal(reasonOf(await other.get(`${tenants}/${child}?asOf=${time}`)), '404 TENANT_NOT_FOUND');
  assert.equal(reasonOf(await other.get(`${people}/${user}?asOf=${time}`)), '404 USER_NOT_FOUND');
  const member = await service.createMember(boss);
  const now = await clock();
  assert.equal((await member.get(`${people}/${member.id}?asOf=${now}`)).status, 200);
  assert.equal(reasonOf(await member.get(`${people}/${user}?asOf=${time}`)), '403 NOT_ALLOWED');
  assert.equal(reasonOf(await member.get(`${tenants}/${boss.id}?asOf=${now}`)), '403 NOT_ALLOWED');
});

test('another tenant sees nothing of the past either', async () => {
  const boss = await service.createTenant();
  const top = await boss.createDepartment({ deptName: 'theirs' });
  await boss.createDepartment({ parentId: top });
  const time = await clock();
  const strangers: Client[] = [await service.createTenant(), await service.createTenant({}, boss), service.root];
  for (const stranger of strangers) {
    for (const id of [top, '9007199254740993', '9223372036854775808']) {
      const paths = [`${id}?`, `${id}/children?`, `tree?rootId=${id}&`, `tree?rootId=${id}&depth=1&`];
      for (const path of paths.slice(0, id.length > 18 ? 2 : 4)) {
        assert.equal(reasonOf(await stranger.get(`${dept}/${path}asOf=${time}`)), '404 DEPT_NOT_FOUND', path);
      }
      assert.equal(reasonOf(await stranger.get(`${dept}/${id}/history`)), '404 DEPT_NOT_FOUND');
    }
    for (const path of [`list?underId=${top}&`, `list?parentId=${top}&`, 'list?deptName=theirs&']) {
      assert.deepEqual((await stranger.get(`${dept}/${path}asOf=${time}`)).data, { rows: [], total: 0 });
    }
    assert.doesNotMatch((await stranger.get(`${dept}/diff?from=2020-01-01`)).text, /theirs/);
    assert.doesNotMatch((await stranger.get(`${dept}/tree?asOf=${time}`)).text, /theirs/);
  }
});
