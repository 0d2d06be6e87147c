import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csv, importFile } from '../support/import.ts';
import { scale } from '../support/scale.ts';
import { shareService } from '../support/service.ts';

const service = await shareService();

test('two imports of the same file create its departments once', async () => {
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

test('an import beside moves and deletions leaves a tree without cycles, or writes nothing', async () => {
  const tenant = await service.createTenant();
  const header = ['来源系统', '外部编号', '上级外部编号', '部门名称'];
  await importFile(
    tenant,
    'dept',
    'apply',
    csv([header, ['hr', 'a', '', 'a'], ['hr', 'b', '', 'b'], ['hr', 'c', '', 'c']]),
  );
  const rows = (await tenant.get('/system/dept-api/list')).data.rows as { deptId: number; deptName: string }[];
  const idOf = (name: string) => rows.find(({ deptName }) => deptName === name)?.deptId as number;
  for (let round = 0; round < scale(2, 8); round++) {
    const [imported, moved, deleted] = await Promise.all([
      importFile(tenant, 'dept', 'apply', csv([header, ['hr', 'a', 'b', 'a'], ['hr', `x${round}`, 'c', 'x']])),
      tenant.put('/system/dept-api', {
        deptId: idOf('b'),
        parentId: idOf('a'),
        deptName: 'b',
        source: 'hr',
        externalId: 'b',
      }),
      tenant.delete(`/system/dept-api/${idOf('c')}`),
    ]);
    for (const { status, text } of [imported, moved, deleted]) assert.ok([200, 400, 404, 409].includes(status), text);
    const { data, code, text } = await tenant.get('/system/dept-api/list?pageSize=500');
    assert.equal(code, 200, text);
    const parents = new Map(
      data.rows.map((dept: { deptId: number; parentId: number }) => [dept.deptId, dept.parentId]),
    );
    for (const { deptId, parentId } of data.rows) {
      assert.ok(parentId === 0 || parents.has(parentId), 'a parent that was deleted has no children');
      let [at, steps] = [deptId, 0];
      while (at !== 0 && steps++ < 100) at = parents.get(at) as number;
      assert.equal(at, 0, 'no department is below itself');
    }
    await tenant.put('/system/dept-api', {
      deptId: idOf('a'),
      parentId: 0,
      deptName: 'a',
      source: 'hr',
      externalId: 'a',
    });
    await tenant.put('/system/dept-api', {
      deptId: idOf('b'),
      parentId: 0,
      deptName: 'b',
      source: 'hr',
      externalId: 'b',
    });
  }
});
