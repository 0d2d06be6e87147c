import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareService } from '../support/service.ts';

const service = await shareService();

test('a new tenant has its own departments and users', async () => {
  const admin = await service.createTenant();
  const top = await admin.createDepartment({ deptName: '总部' });
  const below = await admin.createDepartment({ deptName: '研发', parentId: top });
  const { data } = await admin.get(`/system/dept-api/${below}`);
  assert.equal(data.ancestors, `0,${top}`);
  const member = await service.createMember(admin, { deptId: below });
  assert.equal((await member.get(`/system/dept-api/${below}`)).code, 200);
  assert.equal((await member.post('/system/dept-api', {})).data.reason, 'NOT_ALLOWED');
  assert.equal((await service.root.get(`/system/dept-api/${below}`)).code, 404);
});
