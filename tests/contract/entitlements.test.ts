import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError } from '../support/expect.ts';
import { Client, shareService } from '../support/service.ts';
import { insertDepartments } from '../support/trees.ts';

const service = await shareService();
const above = await service.createTenant({ tenantName: '集团' });
const path = '/system/entitlement-api';

/** Creates a tenant with two departments and a member of both. */
async function createCompany() {
  const admin = await service.createTenant(
    {
      tenantName: '分公司',
      startTime: '2020-01-01',
      endTime: '2999-12-31',
      packageBo: { menuIds: '1, 20,9007199254740993' },
      quotaBo: { merchant: 3 },
      ruleBo: { modelZr: '{"a":1}' },
    },
    above,
  );
  const top = await admin.createDepartment({ deptName: '总部' });
  const team = await admin.createDepartment({ deptName: '前端组', parentId: top });
  const member = await service.createMember(admin, { userName: 'worker', deptId: team, deptIds: [top] });
  return { admin, top, team, member };
}
/** Several tests read this company, so none of them changes its departments, quotas or member. */
const { admin, top, team, member } = await createCompany();

test('a member reads what they may use: service, menus, rules, quotas, roles and departments', async () => {
  const { data } = await member.get(path);
  const { quotas, ruleBo, ...rest } = data;
  assert.deepEqual(rest, {
    tenantId: admin.tenantId,
    tenantName: '分公司',
    inService: true,
    outOfService: null,
    startTime: '2020-01-01',
    endTime: '2999-12-31',
    menuIds: [1, 20, '9007199254740993'],
    user: { userId: Number(member.id), userName: 'worker', status: '0' },
    roles: ['member'],
    departments: [
      {
        ...{ deptId: Number(team), deptName: '前端组', main: true, status: '0' },
        path: [
          { deptId: Number(top), deptName: '总部' },
          { deptId: Number(team), deptName: '前端组' },
        ],
      },
      {
        ...{ deptId: Number(top), deptName: '总部', main: false, status: '0' },
        path: [{ deptId: Number(top), deptName: '总部' }],
      },
    ],
  });
  assert.equal(ruleBo.modelZr, '{"a":1}');
  assert.deepEqual(quotas, (await admin.get('/system/quota-api')).data);
  assert.equal(quotas.find(({ quota }: { quota: string }) => quota === 'merchant').left, 3);
});

test('members read only their own entitlements, and reading those of another user requires user:read', async () => {
  const other = await service.createMember(admin, { userName: 'other' });
  expectError(await member.get(`${path}?userId=${other.id}`), 403, 'NOT_ALLOWED');
  expectError(await member.get(`${path}?tenantId=${above.tenantId}`), 403, 'NOT_ALLOWED');
  assert.equal((await member.get(`${path}?userId=${member.id}`)).data.user.userName, 'worker');
  assert.equal((await admin.get(`${path}?userId=${other.id}`)).data.user.userName, 'other');
  expectError(await admin.get(`${path}?userId=9007199254740993`), 404, 'USER_NOT_FOUND');
  await admin.delete(`/system/user-api/${other.id}`);
  expectError(await admin.get(`${path}?userId=${other.id}`), 404, 'USER_NOT_FOUND');
});

test('what is left of a quota is its total minus what this tenant, and no other, has used and reserved', async () => {
  const tenants = [await service.createTenant({}, above), await service.createTenant({}, above)] as const;
  const [busy, idle] = tenants;
  for (const { tenantId } of tenants) await above.put(`/system/quota-api/calls?tenantId=${tenantId}`, { total: 10 });
  await busy.post('/system/quota-api/consume', { quota: 'calls', amount: 2 });
  await busy.post('/system/quota-api/reserve', { quota: 'calls', amount: 3, seconds: 600 });
  const callsOf = async (client: Client) => {
    const { quotas } = (await client.get(path)).data;
    const { used, reserved, left } = quotas.find(({ quota }: { quota: string }) => quota === 'calls');
    return [used, reserved, left];
  };
  assert.deepEqual(await callsOf(busy), [2, 3, 5]);
  assert.deepEqual(await callsOf(idle), [0, 0, 10]);
});

test('an API key needs tenant:read, and user:read for a user', async () => {
  const keyWith = async (permissions: string[]): Promise<Client> => {
    const { data } = await admin.post('/system/key-api', { keyName: 'app', permissions });
    return new Client(service.base, data.key, undefined, admin.tenantId);
  };
  expectError(await (await keyWith(['dept:read', 'user:read'])).get(path), 403, 'NOT_ALLOWED');
  const key = await keyWith(['tenant:read']);
  const { data } = await key.get(path);
  assert.deepEqual([data.tenantId, data.user, data.roles, data.departments], [admin.tenantId, null, [], []]);
  expectError(await key.get(`${path}?userId=${member.id}`), 403, 'NOT_ALLOWED');
  const both = await keyWith(['tenant:read', 'user:read']);
  assert.deepEqual((await both.get(`${path}?userId=${member.id}`)).data, (await member.get(path)).data);
});

test('an application that has the current version gets 304, and any change gives another ETag', async () => {
  const { admin, top, member } = await createCompany();
  let { headers } = await member.get(path);
  const changes: [what: string, () => Promise<unknown>][] = [
    ['a renamed ancestor', () => admin.patch(`/system/dept-api/${top}`, { deptName: '总公司' })],
    ['a role', () => admin.patch(`/system/user-api/${member.id}`, { roles: ['admin'] })],
    ['menus', () => above.patch(`/system/tenant-api/${admin.id}`, { packageBo: { menuIds: '7' } })],
    ['a use of a quota', () => admin.post('/system/quota-api/consume', { quota: 'merchant' })],
  ];
  for (const [what, change] of changes) {
    const tag = String(headers.etag);
    const same = await member.get(path, { headers: { 'if-none-match': tag } });
    assert.deepEqual([same.status, same.text], [304, ''], what);
    await change();
    const next = await member.get(path, { headers: { 'if-none-match': tag } });
    assert.equal(next.status, 200, what);
    assert.notEqual(next.headers.etag, tag, what);
    headers = next.headers;
  }
});

test('an administrator of an ancestor tenant sees why a tenant is out of service', async () => {
  const states: [object, string | null][] = [
    [{ status: '1' }, 'disabled'],
    [{ status: '0', startTime: '2999-01-01' }, 'notStarted'],
    [{ startTime: '2020-01-01', endTime: '2020-01-02' }, 'ended'],
    [{ endTime: '2999-12-31' }, null],
  ];
  const tenant = await service.createTenant({}, above);
  for (const [patch, expected] of states) {
    await above.patch(`/system/tenant-api/${tenant.id}`, patch);
    const { inService, outOfService } = (await above.get(`${path}?tenantId=${tenant.tenantId}`)).data;
    assert.deepEqual([inService, outOfService], [expected === null, expected]);
  }
  const grandchild = await service.createTenant({}, tenant);
  await above.patch(`/system/tenant-api/${tenant.id}`, { status: '1' });
  expectError(await tenant.get(path), 403, 'TENANT_DISABLED');
  const { data } = await above.get(`${path}?tenantId=${grandchild.tenantId}`);
  assert.deepEqual([data.inService, data.outOfService], [false, 'above']);
});

test('the entitlements of a user whose departments have paths of more than 20,000 levels in all are rejected, and the error states that limit', async () => {
  const company = await service.createTenant();
  const first = 700_000;
  await insertDepartments(service.superuser, company.tenantId, { first, count: 900, parentOf: 'nullif(n - 1, 0)' });
  const lowest = Array.from({ length: 24 }, (_, n) => first + 900 - n);
  const deep = await service.createMember(company, { userName: 'deep', deptId: lowest[0], deptIds: lowest.slice(1) });
  const response = await deep.get(path);
  expectError(response, 400, 'PATHS_TOO_LONG', { steps: 20_000 });
  assert.match(response.msg, /20000 级，请减少该用户所属的部门/);
});
