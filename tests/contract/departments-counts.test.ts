import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectInvalid } from '../support/expect.ts';
import { shareService } from '../support/service.ts';
import { branchCountsOf, flatten, type Node } from './departments-counts.ts';

const service = await shareService();

const countsOf = (nodes: Node[]) =>
  Object.fromEntries(flatten(nodes).map(({ deptId, userCount }) => [deptId, userCount]));

test('userCount counts each user of a department once and excludes the departments below', async () => {
  const admin = await service.createTenant();
  const top = await admin.createDepartment({ deptName: 'top' });
  const one = await admin.createDepartment({ parentId: top, orderNum: 1 });
  const two = await admin.createDepartment({ parentId: top, orderNum: 2 });
  const empty = await admin.createDepartment({ parentId: top, orderNum: 3 });
  await admin.createUser({ userName: 'main', deptId: one });
  await admin.createUser({ userName: 'both', deptId: one, deptIds: [one, two] });
  await admin.createUser({ userName: 'further', deptIds: [two], status: '1' });
  await admin.createUser({ userName: 'nowhere' });
  await admin.delete(`/system/user-api/${await admin.createUser({ userName: 'gone', deptId: empty })}`);
  const expected = { [top]: 0, [one]: 2, [two]: 2, [empty]: 0 };
  const member = await service.createMember(admin);
  for (const client of [admin, member]) {
    assert.deepEqual(countsOf((await client.get(`${DEPTS}/tree?counts=true`)).data), expected);
    const { data } = await client.get(`${DEPTS}/${top}/children?counts=true`);
    assert.deepEqual(
      data.rows.map(({ userCount }: Node) => userCount),
      [2, 2, 0],
    );
  }
  const cut = await admin.get(`${DEPTS}/tree?counts=true&rootId=${top}&depth=1`);
  assert.deepEqual(countsOf(cut.data), { [top]: 0 });
  const pages: (number | undefined)[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data } = await admin.get(`${DEPTS}/${top}/children?counts=true&limit=1&cursor=${cursor}`);
    pages.push(...data.rows.map(({ userCount }: Node) => userCount));
    cursor = data.next;
  }
  assert.deepEqual(pages, [2, 2, 0]);
  assert.deepEqual((await admin.get(`${DEPTS}/${one}/children?counts=true`)).data, { rows: [], next: null });
});

test('userCount is absent unless counts=true', async () => {
  const admin = await service.createTenant();
  const top = await admin.createDepartment();
  await admin.createUser({ userName: 'main', deptId: top });
  for (const path of ['tree', '0/children', 'tree?counts=false', '0/children?counts=false']) {
    assert.doesNotMatch((await admin.get(`${DEPTS}/${path}`)).text, /userCount/, path);
  }
});

test('branchUserCount counts each user of a department and of those below it once', async () => {
  const admin = await service.createTenant();
  const top = await admin.createDepartment({ orderNum: 1 });
  const empty = await admin.createDepartment({ orderNum: 2 });
  const one = await admin.createDepartment({ parentId: top, orderNum: 1 });
  const two = await admin.createDepartment({ parentId: top, orderNum: 2 });
  const leaf = await admin.createDepartment({ parentId: one });
  await admin.createUser({ userName: 'leaf', deptId: leaf, status: '1' });
  await admin.createUser({ userName: 'three', deptId: top, deptIds: [one, leaf] });
  await admin.createUser({ userName: 'both', deptId: two, deptIds: [leaf] });
  await admin.delete(`/system/user-api/${await admin.createUser({ userName: 'gone', deptId: empty })}`);
  const member = await service.createMember(admin);
  for (const client of [admin, member]) {
    const { data } = await client.get(`${DEPTS}/0/children?branchCounts=true`);
    assert.deepEqual(branchCountsOf(data), [3, 0]);
    assert.doesNotMatch(JSON.stringify(data), /"userCount"/);
  }
  const below = await admin.get(`${DEPTS}/${top}/children?counts=true&branchCounts=true`);
  assert.deepEqual(branchCountsOf(below.data), [3, 1]);
  assert.deepEqual(
    below.data.rows.map(({ userCount }: Node) => userCount),
    [1, 1],
  );
  // The users of the deleted department were moved to another one, and now count there.
  await admin.delete(`${DEPTS}/${leaf}?users=move&toDeptId=${empty}`);
  assert.deepEqual(branchCountsOf((await admin.get(`${DEPTS}/0/children?branchCounts=true`)).data), [2, 3]);
  const past = new Date().toISOString();
  expectInvalid(await admin.get(`${DEPTS}/0/children?branchCounts=true&asOf=${past}`), 'branchCounts');
  assert.doesNotMatch((await admin.get(`${DEPTS}/0/children?counts=true`)).text, /branchUserCount/);
});
