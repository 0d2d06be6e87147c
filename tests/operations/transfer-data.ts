import assert from 'node:assert/strict';
import type { ApiResponse, Client, Service } from '../support/service.ts';

/** The data that leaves one installation and arrives in another. */

export const DEPT = '/system/dept-api';
const USER = '/system/user-api';
const TENANT = '/system/tenant-api';
const QUOTA = '/system/quota-api';

/** Expects that a write succeeds. */
async function write(response: Promise<ApiResponse>): Promise<void> {
  const { code, text } = await response;
  assert.equal(code, 200, text);
}

/** Creates data of every kind in a tenant: created, changed, moved and deleted. */
async function fill(admin: Client): Promise<void> {
  const top = await admin.createDepartment({ deptName: '总部', leader: '张三' });
  const child = await admin.createDepartment({ parentId: top, deptName: '研发/测试 "中心"' });
  // PostgreSQL writes these line separators to JSON as they are.
  await admin.createDepartment({ parentId: child, deptName: '一\u2028二\u2029三' });
  // This parent has a greater id than its child.
  const above = await admin.createDepartment({ deptName: '上级' });
  await write(admin.put(DEPT, { deptId: top, parentId: above, deptName: '总部 2' }));
  const deleted = await admin.createDepartment({ parentId: child, deptName: 'deleted' });
  await write(admin.delete(`${DEPT}/${deleted}`));
  const user = await admin.createUser({
    userName: 'zhang',
    nickName: '张三',
    position: '研发经理',
    deptId: child,
    deptIds: [top],
    roles: ['member'],
  });
  await write(admin.delete(`${USER}/${await admin.createUser({ userName: 'gone' })}`));
  await write(admin.patch(`${USER}/${user}`, { phone: '+86 138' }));
  await admin.create('/system/webhook-api', { url: 'https://93.184.216.34/', status: '1' });
  await admin.create('/system/key-api', { keyName: 'reader', permissions: ['dept:read'] });
}

/** Reads all that a tenant's administrator can read. Logins are left out, because logging in to the second service adds one. */
export async function readAll(admin: Client): Promise<Record<string, unknown>> {
  const reads: Record<string, unknown> = {};
  const read = async (url: string) => {
    const { status, data } = await admin.get(url);
    assert.equal(status, 200, url);
    reads[url] = data;
    return data;
  };
  const { rows: departments } = await read(`${DEPT}/list?pageSize=500&withPath=true`);
  await read(`${DEPT}/tree`);
  for (const { deptId } of departments) {
    await read(`${DEPT}/${deptId}`);
    await read(`${DEPT}/${deptId}/history`);
    await read(`${DEPT}/${deptId}/users`);
    await read(`${DEPT}/${deptId}/children`);
  }
  for (const { userId } of (await read(`${USER}/list?pageSize=500`)).rows) await read(`${USER}/${userId}`);
  for (const { id } of (await read(`${TENANT}/list?pageSize=500&fields=ruleBo`)).rows) await read(`${TENANT}/${id}`);
  await read(`${TENANT}/tree`);
  for (const resource of ['department', 'tenant', 'user', 'webhook', 'key'])
    await read(`/system/change-api/list?resource=${resource}&limit=500`);
  const feed = await read('/system/change-api?limit=1000');
  reads['/system/change-api?limit=1000'] = feed.rows;
  const subtree = await read('/system/change-api?limit=1000&below=true');
  reads['/system/change-api?limit=1000&below=true'] = subtree.rows;
  const [{ time }] = feed.rows.slice(-4);
  await read(`${DEPT}/tree?asOf=${encodeURIComponent(time)}`);
  for (const { id } of (await read('/system/webhook-api/list')).rows) await read(`/system/webhook-api/${id}`);
  for (const { keyId } of (await read('/system/key-api/list')).rows) await read(`/system/key-api/${keyId}`);
  for (const path of ['', '/uses', '/usage?by=user', '/usage?by=tenant']) await read(`${QUOTA}${path}`);
  return reads;
}

/** Creates tenants with data, one below another, one beside them and one that is deleted. */
export async function createData(first: Service) {
  const upper = await first.createTenant({ tenantName: '集团', ruleBo: { modelZr: '规则' }, quotaBo: { merchant: 7 } });
  const lower = await first.createTenant({ tenantName: '分公司' }, upper);
  const beside = await first.createTenant();
  for (const admin of [upper, lower, beside]) await fill(admin);
  for (const amount of [1, 2]) {
    const { data } = await upper.post(`${QUOTA}/consume`, { quota: 'merchant', amount });
    if (amount === 1) await upper.post(`${QUOTA}/uses/${data.useId}/refund`);
  }
  const gone = await first.createTenant({ tenantName: 'gone' });
  await write(first.root.delete(`${TENANT}/${gone.id}`));
  return { upper, lower, beside };
}
