import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS, expectError, expectOk, readDept, TENANTS } from '../support/expect.ts';
import { type ApiResponse, type Client, startService } from '../support/service.ts';
import { insertDepartments } from '../support/trees.ts';
import { apply } from './imports.ts';

/** The limits of nesting: small ones here, so that few records reach them. */

const service = await startService({ BANYAN_DEPARTMENT_LEVELS: '4', BANYAN_TENANT_LEVELS: '4' });

const expectTooDeep = (response: ApiResponse, setting = 'BANYAN_DEPARTMENT_LEVELS') =>
  expectError(response, 409, 'TOO_DEEP', { limit: 4, setting });
const move = (client: Client, deptId: string, parentId: string | number) => client.put(DEPTS, { deptId, parentId });
const latestChange = async (client: Client) => (await client.get(`${CHANGES}/list?limit=1`)).data.rows[0].id;

async function createChain(admin: Client, count: number, parentId = '0'): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await admin.createDepartment({ parentId: ids.at(-1) ?? parentId }));
  return ids;
}

test('a department is created on the last level, and not below it', async () => {
  const admin = await service.createTenant();
  const ids = await createChain(admin, 4);
  expectTooDeep(await admin.post(DEPTS, { parentId: ids[3] }));
  expectTooDeep(await admin.post(DEPTS, { parentId: ids[3] }, { headers: { 'idempotency-key': 'deep' } }));
  const english = await admin.post(DEPTS, { parentId: ids[3] }, { headers: { 'accept-language': 'en' } });
  assert.match(english.msg, /^At most 4 levels are allowed\./);
});

test('a bulk creation counts the levels of its entries', async () => {
  const admin = await service.createTenant();
  const [, second] = await createChain(admin, 2);
  // The parent comes after its child, and the deepest entry first.
  const departments = (levels: number) =>
    Array.from({ length: levels }, (_, n) => ({ ref: `${n}`, parentRef: n + 1 < levels ? `${n + 1}` : null }));
  expectTooDeep(await admin.post(`${DEPTS}/bulk`, { parentId: second, departments: departments(3) }));
  expectTooDeep(await admin.post(`${DEPTS}/bulk`, { departments: departments(5) }));
  assert.equal((await admin.get(`${DEPTS}/list`)).data.total, 2, 'nothing was created');
  assert.equal((await admin.post(`${DEPTS}/bulk`, { parentId: second, departments: departments(2) })).status, 200);
  assert.equal((await admin.post(`${DEPTS}/bulk`, { departments: departments(4) })).status, 200);
});

test('a move is checked against the actual depth of the moved subtree, even after many earlier moves', async () => {
  const admin = await service.createTenant();
  const home = await createChain(admin, 2);
  const [subtree = '', below = ''] = await createChain(admin, 2);
  const leaf = await admin.createDepartment();
  // Each move down stores an upper bound of the new depth, and no move up lowers it. So the bound exceeds the depth.
  for (let n = 0; n < 6; n++) {
    expectOk(await move(admin, leaf, home[1] as string));
    expectOk(await move(admin, leaf, '0'));
  }
  expectOk(await move(admin, subtree, home[1] as string));
  expectTooDeep(await move(admin, leaf, below));
  expectOk(await move(admin, subtree, '0'));
  await admin.createDepartment({ parentId: below });
  expectTooDeep(await move(admin, subtree, home[1] as string));
  expectOk(await move(admin, subtree, home[0] as string));
  assert.equal((await readDept(admin, below)).ancestors, `0,${home[0]},${subtree}`);
});

test('deleted departments do not count, and are not restored below the last level', async () => {
  const admin = await service.createTenant();
  const home = await createChain(admin, 2);
  const [subtree = '', below = '', lowest = ''] = await createChain(admin, 3);
  expectOk(await admin.delete(`${DEPTS}/${below}?subtree=true`));
  const deletion = await latestChange(admin);
  expectOk(await move(admin, subtree, home[1] as string));
  expectTooDeep(await admin.post(`${DEPTS}/${below}/restore`, {}));
  expectTooDeep(await admin.post(`${CHANGES}/${deletion}/revert`));
  expectOk(await admin.post(`${DEPTS}/${below}/restore`, { parentId: home[1] }));
  assert.equal((await readDept(admin, lowest)).ancestors, `0,${home.join(',')},${below}`);
  expectTooDeep(await admin.post(DEPTS, { parentId: lowest }));
});

test('a revert does not move a subtree below the last level', async () => {
  const admin = await service.createTenant();
  const home = await createChain(admin, 3);
  const subtree = await admin.createDepartment({ parentId: home[2] });
  expectOk(await move(admin, subtree, '0'));
  const change = await latestChange(admin);
  const below = await admin.createDepartment({ parentId: subtree });
  expectTooDeep(await admin.post(`${CHANGES}/${change}/revert`));
  expectOk(await admin.delete(`${DEPTS}/${below}`));
  expectOk(await admin.post(`${CHANGES}/${change}/revert`));
});

test('a revert of several moves succeeds if the tree is too deep only between two of them', async () => {
  const admin = await service.createTenant();
  const create = (externalId: string, parentId = '0') =>
    admin.createDepartment({ deptName: externalId, parentId, source: 'hr', externalId });
  const a = await create('a', await create('p'));
  const x = await create('x', a);
  const home = await create('r', await create('q'));
  const c = await create('c', home);
  await create('d', c);
  const { data } = await apply(admin, 'dept', [
    ['部门路径', '部门名称', '来源系统', '外部编号', '上级外部编号'],
    ['a', 'a', 'hr', 'a', null],
    [null, 'c', 'hr', 'c', 'x'],
  ]);
  assert.equal(String((await readDept(admin, c)).parentId), x);
  // If `a` returns first, it still has `x`, `c` and `d` below it.
  expectOk(await admin.post(`${CHANGES}/${data.changeId}/revert`));
  assert.equal(String((await readDept(admin, c)).parentId), home);
});

test('departments that are already too deep can be read, moved up and changed, but get no children', async () => {
  const admin = await service.createTenant();
  await insertDepartments(service.superuser, admin.tenantId, {
    first: 5_000_000,
    count: 7,
    parentOf: 'nullif(n - 1, 0)',
  });
  const id = (n: number) => String(5_000_000 + n);
  assert.equal((await readDept(admin, id(7))).ancestors.split(',').length, 7);
  assert.equal((await admin.get(`${DEPTS}/list?withPath=true`)).data.rows.length, 7);
  assert.equal((await admin.get(`${DEPTS}/tree`)).status, 200);
  expectOk(await admin.put(DEPTS, { deptId: id(7), deptName: 'changed' }));
  expectTooDeep(await admin.post(DEPTS, { parentId: id(7) }));
  const top = await admin.createDepartment();
  expectTooDeep(await move(admin, id(1), top));
  expectOk(await move(admin, id(3), id(1)));
  assert.equal((await readDept(admin, id(7))).ancestors.split(',').length, 6);
});

test('tenants are created, moved and restored down to the last level only', async () => {
  const second = await service.createTenant();
  const third = await service.createTenant({}, second);
  const fourth = await service.createTenant({}, third);
  const setting = 'BANYAN_TENANT_LEVELS';
  expectTooDeep(await fourth.post(TENANTS, { tenantName: 'five' }), setting);
  const other = await service.createTenant({}, service.root);
  const below = await service.createTenant({}, other);
  const moveTo = (tenantParent: string) => service.root.put(TENANTS, { id: other.id, tenantParent });
  expectTooDeep(await moveTo(third.tenantId), setting);
  expectOk(await moveTo(second.tenantId));
  expectOk(await moveTo('000000'));
  const lowest = await service.createTenant({}, below);
  // The revert of the second move would take the subtree to level 5.
  const [latest] = (await service.root.get(`${CHANGES}/list?resource=tenant&action=moved&below=false&limit=1`)).data
    .rows;
  expectTooDeep(await service.root.post(`${CHANGES}/${latest.id}/revert`), setting);
  // A deleted tenant moves along, but is not restored too deep.
  expectOk(await service.root.delete(`${TENANTS}/${lowest.id}`));
  expectOk(await moveTo(second.tenantId));
  expectTooDeep(await service.root.post(`${TENANTS}/${lowest.id}/restore`), setting);
});
