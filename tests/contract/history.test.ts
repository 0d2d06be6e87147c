import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, databaseTime, outcomeOf, TENANTS, USERS } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';

const service = await startService();
// Some tests write with SQL. The time zone of that session must not matter: the ledger stores times in UTC.
await service.superuser`set time zone 'Asia/Shanghai'`;

const ids = (rows: { deptId: number }[]) => rows.map(({ deptId }) => String(deptId));

test('asOf shows the fields of a department at that time, and its ancestors before and after a move above it', async () => {
  const admin = await service.createTenant();
  const before = await databaseTime(service);
  const [a, b] = [await admin.createDepartment({ deptName: 'a' }), await admin.createDepartment({ deptName: 'b' })];
  const low = await admin.createDepartment({ deptName: 'low', parentId: a });
  const lowest = await admin.createDepartment({ deptName: 'lowest', parentId: low });
  const then = await databaseTime(service);
  await admin.put(DEPTS, { deptId: a, deptName: 'a', parentId: b });
  const moved = await databaseTime(service);
  await admin.put(DEPTS, { deptId: lowest, deptName: 'renamed' });
  await admin.delete(`${DEPTS}/${lowest}`);
  const read = async (time: string) => (await admin.get(`${DEPTS}/${lowest}?asOf=${time}`)).data;
  assert.equal((await read(then)).ancestors, `0,${a},${low}`);
  assert.equal((await read(moved)).ancestors, `0,${b},${a},${low}`);
  assert.equal((await read(moved)).deptName, 'lowest');
  assert.equal((await read(before)).reason, 'DEPT_NOT_FOUND');
  assert.equal((await read(await databaseTime(service))).reason, 'DEPT_NOT_FOUND');
  const list = await admin.get(`${DEPTS}/list?underId=${b}&withPath=true&sort=deptName&asOf=${moved}`);
  assert.deepEqual(
    list.data.rows.map(({ deptName, pathNames }: { deptName: string; pathNames: string[] }) => [deptName, pathNames]),
    [
      ['a', ['b']],
      ['low', ['b', 'a']],
      ['lowest', ['b', 'a', 'low']],
    ],
  );
  assert.equal((await admin.get(`${DEPTS}/list?underId=${b}&asOf=${then}`)).data.total, 0);
  const children = await admin.get(`${DEPTS}/${low}/children?asOf=${moved}`);
  assert.equal(children.data.rows[0].ancestors, `0,${b},${a},${low}`);
  assert.equal((await admin.get(`${DEPTS}/${low}/children?asOf=${before}`)).status, 404);
  assert.equal((await admin.get(`${DEPTS}/tree?rootId=${low}&asOf=${before}`)).status, 404);
  assert.deepEqual((await admin.get(`${DEPTS}/tree?asOf=${before}`)).data, []);
});

test('a batch delete takes effect for all departments at the same time', async () => {
  const admin = await service.createTenant();
  const created = [await admin.createDepartment(), await admin.createDepartment(), await admin.createDepartment()];
  await admin.delete(`${DEPTS}/${created.join(',')}`);
  const [{ at, before }] = await service.superuser<[{ at: string; before: string }]>`
    select min(to_char(time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) as at,
      min(to_char((time - interval '1 microsecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) as before
    from banyan.changes where tenant_id = ${admin.tenantId} and action = 'deleted'`;
  assert.deepEqual(ids((await admin.get(`${DEPTS}/list?asOf=${before}`)).data.rows), created);
  assert.deepEqual((await admin.get(`${DEPTS}/list?asOf=${at}`)).data, { rows: [], total: 0 });
});

test('asOf finds a department before it was deleted and after it was restored with SQL, but not in between', async () => {
  const admin = await service.createTenant();
  const id = await admin.createDepartment({ deptName: 'again' });
  const first = await databaseTime(service);
  await admin.delete(`${DEPTS}/${id}`);
  const deleted = await databaseTime(service);
  await service.superuser`
    update banyan.departments set del_flag = '0', update_by = 'sql' where tenant_id = ${admin.tenantId} and dept_id = ${id}`;
  const restored = await databaseTime(service);
  const statuses = [];
  for (const time of [first, deleted, restored]) {
    statuses.push((await admin.get(`${DEPTS}/${id}?asOf=${time}`)).status);
    const { data } = await admin.get(`${DEPTS}/0/children?asOf=${time}`);
    assert.deepEqual(ids(data.rows), time === deleted ? [] : [id]);
  }
  assert.deepEqual(statuses, [200, 404, 200]);
  const { data } = await admin.get(`${DEPTS}/${id}/history?sort=time`);
  assert.deepEqual(
    data.rows.map(({ action }: { action: string }) => action),
    ['created', 'deleted', 'restored'],
  );
});

test('asOf accepts a time with or without offset, a day or a second, and rejects invalid and future times', async () => {
  const admin = await service.createTenant();
  const id = await admin.createDepartment({ deptName: 'first' });
  const zone = 'Asia/Shanghai';
  const inZone = await databaseTime(service, 'YYYY-MM-DD HH24:MI:SS.US', zone);
  const inUtc = await databaseTime(service);
  const offset = (await databaseTime(service, 'YYYY-MM-DD"T"HH24:MI:SS.US', 'Asia/Kolkata')).concat('+05:30');
  await admin.put(DEPTS, { deptId: id, deptName: 'second' });
  for (const time of [inZone, inUtc, offset]) {
    const { data, text } = await admin.get(`${DEPTS}/${id}?asOf=${encodeURIComponent(time)}`);
    assert.equal(data.deptName, 'first', `${time}: ${text}`);
  }
  // A day and a second stand for their beginning, which is before the department was created.
  const [{ day, second }] = await service.superuser<[{ day: string; second: string }]>`
    select to_char(min(time) at time zone ${zone}, 'YYYY-MM-DD') as day,
      to_char(min(time) at time zone ${zone}, 'YYYY-MM-DD"T"HH24:MI:SS') as second
    from banyan.changes where tenant_id = ${admin.tenantId} and resource = 'department'`;
  for (const time of [day, second]) assert.equal((await admin.get(`${DEPTS}/${id}?asOf=${time}`)).status, 404);
  const wrong = ['yesterday', '2026-02-31', '2026-01-01T25:00', '2026-01-01T08:00:00Z;', '0000-00-00', '1', 'now'];
  // 2196 is a leap year, so the date is also valid on 29 February.
  const later = await databaseTime(service, '"2196"-MM-DD"T"HH24:MI:SS"Z"');
  for (const time of [...wrong, later]) {
    for (const path of [
      `${DEPTS}/${id}?`,
      `${DEPTS}/${id}/children?`,
      `${DEPTS}/tree?`,
      `${DEPTS}/list?`,
      `${USERS}/1?`,
      `${TENANTS}/${admin.id}?`,
    ]) {
      const response = await admin.get(`${path}asOf=${encodeURIComponent(time)}`, {
        headers: { 'accept-language': 'en' },
      });
      assert.equal(outcomeOf(response), '400 INVALID_FIELD', `${path} ${time}`);
      assert.equal(response.data.field, 'asOf', `${path} ${time}`);
      if (time === later) assert.match(response.msg, /future/);
    }
  }
});

test('parameters that cannot be combined with asOf are rejected with their name', async () => {
  const admin = await service.createTenant();
  const id = await admin.createDepartment();
  const time = await databaseTime(service);
  for (const [path, field] of [
    [`${DEPTS}/${id}?includeDeleted=true`, 'includeDeleted'],
    [`${DEPTS}/list?cursor=`, 'cursor'],
    [`${DEPTS}/tree?counts=true`, 'counts'],
    [`${DEPTS}/0/children?counts=true`, 'counts'],
  ]) {
    const response = await admin.get(`${path}&asOf=${time}`);
    assert.deepEqual([response.status, response.data.field], [400, field], response.text);
  }
});

test('asOf lists children page by page with hasChildren at that time', async () => {
  const admin = await service.createTenant();
  const created: string[] = [];
  for (let n = 0; n < 5; n++) created.push(await admin.createDepartment({ orderNum: 5 - n }));
  const below = await admin.createDepartment({ parentId: created[4] });
  const time = await databaseTime(service);
  await admin.put(DEPTS, { deptId: below, parentId: created[0] });
  const rows = [];
  for (let cursor = ''; ; ) {
    const { data } = await admin.get(`${DEPTS}/0/children?limit=2&cursor=${cursor}&asOf=${time}`);
    rows.push(...data.rows);
    if (data.next === null) break;
    cursor = data.next;
  }
  assert.deepEqual(ids(rows), [...created].reverse());
  assert.deepEqual(
    rows.map(({ hasChildren }) => hasChildren),
    [true, false, false, false, false],
  );
});

test('asOf shows tenants and users, also deleted ones, to the tenants that are above them today', async () => {
  const admin = await service.createTenant({ tenantName: 'boss' });
  const other = await service.createTenant();
  const early = await databaseTime(service);
  const child = await admin.create(TENANTS, { tenantName: 'first', quotaBo: { merchant: 3, zr: 4 } });
  const home = await admin.createDepartment();
  const user = await admin.createUser({ userName: 'anna', deptId: home, nickName: 'A' });
  const [tenantThen, userThen] = [
    (await admin.get(`${TENANTS}/${child}`)).data,
    (await admin.get(`${USERS}/${user}`)).data,
  ];
  const time = await databaseTime(service);
  // A password change is recorded, but does not change the user record.
  await service.superuser`
    update banyan.users set password_hash = 'another' where tenant_id = ${admin.tenantId} and user_id = ${user}`;
  assert.deepEqual((await admin.get(`${USERS}/${user}?asOf=${await databaseTime(service)}`)).data, userThen);
  await admin.put(TENANTS, { id: child, tenantName: 'second' });
  await admin.delete(`${TENANTS}/${child}`);
  await admin.put(USERS, { userId: user, userName: 'anna', password: 'another horse' });
  await admin.delete(`${USERS}/${user}`);
  assert.equal((await admin.get(`${TENANTS}/${child}`)).status, 404);
  assert.deepEqual((await admin.get(`${TENANTS}/${child}?asOf=${time}`)).data, tenantThen);
  assert.deepEqual((await service.root.get(`${TENANTS}/${child}?asOf=${time}`)).data, tenantThen);
  assert.deepEqual((await admin.get(`${USERS}/${user}?asOf=${time}`)).data, userThen);
  const inTenant = `${USERS}/${user}?tenantId=${admin.tenantId}&asOf=${time}`;
  assert.deepEqual((await service.root.get(inTenant)).data, userThen);
  assert.equal(outcomeOf(await other.get(inTenant)), '403 OTHER_TENANT');
  assert.equal(outcomeOf(await admin.get(`${TENANTS}/${child}?asOf=${early}`)), '404 TENANT_NOT_FOUND');
  assert.equal(outcomeOf(await admin.get(`${USERS}/${user}?asOf=${early}`)), '404 USER_NOT_FOUND');
  assert.equal(outcomeOf(await other.get(`${TENANTS}/${child}?asOf=${time}`)), '404 TENANT_NOT_FOUND');
  assert.equal(outcomeOf(await other.get(`${USERS}/${user}?asOf=${time}`)), '404 USER_NOT_FOUND');
  const member = await service.createMember(admin);
  const now = await databaseTime(service);
  assert.equal((await member.get(`${USERS}/${member.id}?asOf=${now}`)).status, 200);
  assert.equal(outcomeOf(await member.get(`${USERS}/${user}?asOf=${time}`)), '403 NOT_ALLOWED');
  assert.equal(outcomeOf(await member.get(`${TENANTS}/${admin.id}?asOf=${now}`)), '403 NOT_ALLOWED');
  // A tenant that has moved since then is shown to its present ancestors only.
  const moved = await service.createTenant({ tenantName: 'before the move' }, admin);
  const past = `${TENANTS}/${moved.id}?asOf=${await databaseTime(service)}`;
  await service.root.put(TENANTS, { id: moved.id, tenantName: 'after the move', tenantParent: other.tenantId });
  assert.equal((await other.get(past)).data.tenantName, 'before the move');
  assert.equal(outcomeOf(await admin.get(past)), '404 TENANT_NOT_FOUND');
});

test('asOf, history and diff show nothing to other tenants', async () => {
  const admin = await service.createTenant();
  const top = await admin.createDepartment({ deptName: 'theirs' });
  await admin.createDepartment({ parentId: top });
  const time = await databaseTime(service);
  const outsiders: Client[] = [await service.createTenant(), await service.createTenant({}, admin), service.root];
  for (const outsider of outsiders) {
    for (const id of [top, '9007199254740993', '9223372036854775808']) {
      const paths = [`${id}?`, `${id}/children?`, `tree?rootId=${id}&`, `tree?rootId=${id}&depth=1&`];
      // A number beyond 2^63 is an unknown id in a path, but an invalid rootId.
      for (const path of paths.slice(0, id.length > 18 ? 2 : 4)) {
        assert.equal(outcomeOf(await outsider.get(`${DEPTS}/${path}asOf=${time}`)), '404 DEPT_NOT_FOUND', path);
      }
      assert.equal(outcomeOf(await outsider.get(`${DEPTS}/${id}/history`)), '404 DEPT_NOT_FOUND');
    }
    for (const path of [`list?underId=${top}&`, `list?parentId=${top}&`, 'list?deptName=theirs&']) {
      assert.deepEqual((await outsider.get(`${DEPTS}/${path}asOf=${time}`)).data, { rows: [], total: 0 });
    }
    assert.doesNotMatch((await outsider.get(`${DEPTS}/diff?from=2020-01-01`)).text, /theirs/);
    assert.doesNotMatch((await outsider.get(`${DEPTS}/tree?asOf=${time}`)).text, /theirs/);
  }
});
