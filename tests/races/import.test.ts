import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectOk, read, resultOf } from '../support/expect.ts';
import { csv, importFile } from '../support/import.ts';
import { report, scale, Tally } from '../support/scale.ts';
import { type ApiResponse, type Client, PASSWORD, shareService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const service = await shareService();

test('concurrent imports of the same file create its departments once', async () => {
  const tenant = await service.createTenant();
  const rows = [['部门路径'], ['总部'], ...Array.from({ length: 50 }, (_, n) => [`总部/部门${n}`])];
  const results = await Promise.all([1, 2, 3].map(() => importFile(tenant, 'dept', 'apply', csv(rows))));
  assert.deepEqual(
    results.map(({ code, data }) => [code, data.created]).sort(),
    [
      [200, 0],
      [200, 0],
      [200, 51],
    ],
    results.map(({ text }) => text).join('\n'),
  );
  assert.equal((await tenant.get('/system/dept-api/list')).data.total, 51);
});

test('an import returns no password for a user whom somebody else created meanwhile', async () => {
  const tenant = await service.createTenant();
  const file = csv([['用户名'], ['ann'], ['bob']]);
  // Lock the tenant until the import has hashed its passwords and waits behind the creation of `bob`.
  const { importing } = await service.superuser.begin(async (tx) => {
    await tx`select from banyan.tenants where tenant_id = ${tenant.tenantId} for update`;
    const creating = tenant.post('/system/user-api', { userName: 'bob', password: PASSWORD });
    await waitFor('the creation waits', async () => (await countLockWaits(tx)) === 1);
    const importing = importFile(tenant, 'user', 'apply', file);
    await waitFor('the import waits behind it', async () => (await countLockWaits(tx)) === 2);
    return { importing: importing.then(async (response) => ({ response, created: await creating })) };
  });
  const { response, created } = await importing;
  assert.deepEqual([created.code, response.code], [200, 200], response.text);
  assert.deepEqual(
    response.data.passwords.map(({ userName }: { userName: string }) => userName),
    ['ann'],
  );
});

const header = ['来源系统', '外部编号', '上级外部编号', '部门名称'];
/** Creates a department whose name is also its id in another system. */
const createNamed = (client: Client, name: string) =>
  client.createDepartment({ deptName: name, source: 'hr', externalId: name });

/** Reads the parent of each department, by their names; 0: top level. */
async function readParents(client: Client): Promise<Record<string, string | number>> {
  const { rows }: { rows: { deptId: number; parentId: number; deptName: string }[] } = await read(
    client,
    `${DEPTS}/list?pageSize=500`,
  );
  const names = new Map(rows.map(({ deptId, deptName }) => [deptId, deptName]));
  return Object.fromEntries(rows.map(({ deptName, parentId }) => [deptName, names.get(parentId) ?? parentId]));
}

test('an import that runs concurrently with moves and deletions is written completely and prevents them, or writes nothing', async (t) => {
  const tenant = await service.createTenant();
  const [a, b] = [await createNamed(tenant, 'a'), await createNamed(tenant, 'b')];
  const tally = new Tally();
  for (let round = 0; round < scale(2, 8); round++) {
    const [parent, child] = [`parent${round}`, `child${round}`];
    const parentId = await createNamed(tenant, parent);
    const [imported, moved, deleted] = await Promise.all([
      importFile(tenant, 'dept', 'apply', csv([header, ['hr', 'a', 'b', 'a'], ['hr', child, parent, child]])),
      tenant.put(DEPTS, { deptId: b, parentId: a, deptName: 'b', source: 'hr', externalId: 'b' }),
      tenant.delete(`${DEPTS}/${parentId}`),
    ]);
    const parents = await readParents(tenant);
    const found = [parents.a, parents.b, parents[parent], parents[child]];
    if (imported.code === 200) {
      assert.deepEqual([moved, deleted].map(resultOf), ['DEPT_CYCLE', 'DEPT_HAS_CHILDREN']);
      assert.deepEqual(found, ['b', 0, 0, parent]);
    } else {
      expectError(imported, 400, 'ROWS_INVALID');
      assert.deepEqual([moved, deleted].map(resultOf), ['done', 'done']);
      assert.deepEqual(found, [0, 'a', undefined, undefined]);
    }
    tally.add(resultOf(imported));
    for (const id of [a, b]) expectOk(await tenant.patch(`${DEPTS}/${id}`, { parentId: 0 }));
  }
  report(t, tally.counts);
});

/** Runs work while an import waits for a department that this function has locked. Returns the response of the import. */
async function whileImportWaits(tenant: Client, lockedId: string, rows: string[][], work: () => Promise<unknown>) {
  const { importing } = await service.superuser.begin(async (tx) => {
    await tx`select from banyan.departments where tenant_id = ${tenant.tenantId} and dept_id = ${lockedId} for update`;
    const importing = importFile(tenant, 'dept', 'apply', csv([header, ...rows]));
    await waitFor('the import waits', async () => (await countLockWaits(service.owner, 'transactionid')) > 0);
    await work();
    return { importing };
  });
  return importing;
}

test('an import writes nothing when a parent that it names is deleted before the import has locked it', async () => {
  const tenant = await service.createTenant();
  // Departments are locked in the order of their ids.
  const [locked, parent] = [await createNamed(tenant, 'locked'), await createNamed(tenant, 'parent')];
  const rows = [
    ['hr', 'locked', '', 'changed'],
    ['hr', 'child', 'parent', 'child'],
  ];
  const imported = await whileImportWaits(tenant, locked, rows, async () =>
    expectOk(await tenant.delete(`${DEPTS}/${parent}`)),
  );
  expectError(imported, 400, 'ROWS_INVALID');
  assert.deepEqual(await readParents(tenant), { locked: 0 });
});

test('a move and a deletion that wait for an import are rejected if they contradict it', async () => {
  const tenant = await service.createTenant();
  const ids: string[] = [];
  for (const name of ['a', 'b', 'parent', 'locked']) ids.push(await createNamed(tenant, name));
  const [a, b, parent, locked = ''] = ids;
  const rows = [
    ['hr', 'a', 'b', 'a'],
    ['hr', 'child', 'parent', 'child'],
    ['hr', 'locked', '', 'changed'],
  ];
  let others: Promise<ApiResponse[]> = Promise.resolve([]);
  const imported = await whileImportWaits(tenant, locked, rows, async () => {
    others = Promise.all([tenant.patch(`${DEPTS}/${b}`, { parentId: Number(a) }), tenant.delete(`${DEPTS}/${parent}`)]);
    await waitFor('the others wait too', async () => (await countLockWaits(service.owner)) >= 3);
  });
  assert.equal(imported.code, 200, imported.text);
  assert.deepEqual((await others).map(resultOf), ['DEPT_CYCLE', 'DEPT_HAS_CHILDREN']);
  assert.deepEqual(await readParents(tenant), { a: 'b', b: 0, parent: 0, child: 'parent', changed: 0 });
});
