import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csv, importFile, xlsx } from '../support/import.ts';
import { startService } from '../support/service.ts';

const service = await startService();

test('an import of departments is previewed, applied and reverted', async () => {
  const tenant = await service.createTenant();
  const file = await xlsx([
    ['部门路径', '显示顺序', '负责人', '联系电话'],
    ['总部/研发中心/前端组', 3, '张三', 13800138000],
    ['总部', 1, null, null],
    ['总部/研发中心', 2, '李四', '０１０－８８８８'],
  ]);
  const preview = await importFile(tenant, 'dept', 'preview', file);
  assert.equal(preview.code, 200, preview.text);
  assert.equal(preview.data.created, 3);
  const applied = await importFile(tenant, 'dept', 'apply', file);
  assert.equal(applied.code, 200, applied.text);
  console.log(applied.data);
  const list = await tenant.get('/system/dept-api/list');
  console.log(list.data.rows.map((d: Record<string, unknown>) => [d.deptName, d.ancestors, d.phone, d.orderNum]));
  const again = await importFile(tenant, 'dept', 'apply', file);
  console.log(again.data);
  const reverted = await tenant.post(`/system/change-api/${applied.data.changeId}/revert`);
  assert.equal(reverted.code, 200, reverted.text);
  assert.equal((await tenant.get('/system/dept-api/list')).data.total, 0);
  const bad = await importFile(
    tenant,
    'dept',
    'preview',
    csv([
      ['部门路径', '状态'],
      ['A/B', '启动'],
      ['C', ''],
      ['C', ''],
    ]),
  );
  console.log(JSON.stringify(bad.data, null, 1));
  console.log(
    (
      await importFile(
        tenant,
        'dept',
        'apply',
        csv([
          ['部门路径', '状态'],
          ['A/B', '启动'],
          ['C', ''],
          ['C', ''],
        ]),
      )
    ).text,
  );
  console.log(
    (
      await importFile(
        tenant,
        'dept',
        'preview',
        csv([
          ['部门路径', '状态'],
          ['A/B', '启动'],
          ['C', ''],
          ['C', ''],
        ]),
        { query: '&report=csv' },
      )
    ).text,
  );
});
