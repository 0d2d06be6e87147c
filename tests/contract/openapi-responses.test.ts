import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { errorCatalog } from '../../server/http/errors.ts';
import { csv, form } from '../support/import.ts';
import { assertDocumented, type Operation, readOperations } from '../support/openapi.ts';
import { sample } from '../support/scale.ts';
import {
  type ApiResponse,
  type Client,
  FAST_WEBHOOK_POLLING,
  PASSWORD,
  type RequestOptions,
  startService,
} from '../support/service.ts';

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: FAST_WEBHOOK_POLLING });
const { anonymous } = service;
const admin = await service.createTenant({
  tenantName: '集团',
  startTime: '2020-01-01',
  packageBo: { menuIds: '1,2' },
});
const child = await service.createTenant({ quotaBo: { merchant: 3 }, ruleBo: { modelZr: '{}' } }, admin);
const top = await admin.createDepartment({ deptName: '总部', leader: '张三', phone: '13800000000', email: 'a@b.cn' });
const below = await admin.createDepartment({ parentId: top });
const member = await service.createMember(admin, { deptId: top, deptIds: [below], nickName: '小王', email: 'w@b.cn' });
const hooks = '/system/webhook-api';
const createKey = () => admin.create('/system/key-api', { keyName: 'key', permissions: ['dept:read'] });
const webhook = await admin.create(hooks, { url: 'http://127.0.0.1:9/', kinds: ['tenant.moved'] });
const testDeliveryId = (await admin.post(`${hooks}/${webhook}/test`)).data.deliveryId;
const operations = await readOperations(service);
const operationOf = (id: string): Operation =>
  operations.find(({ operationId }) => operationId === id) ?? assert.fail(`no operation ${id}`);

/** Calls an operation by its id and expects that the OpenAPI document describes the response. */
async function call(
  client: Client,
  id: string,
  { id: recordId = '', query = '', body, ...options }: Sent = {},
): Promise<ApiResponse> {
  const operation = operationOf(id);
  const path =
    operation.path
      .replace('{id}', recordId)
      .replace('{source}', 'hr')
      .replace('{externalId}', recordId)
      .replace('{useId}', recordId)
      .replace('{quota}', 'calls')
      .replace('{deliveryId}', String(testDeliveryId)) + (query && `?${encodeURI(query)}`);
  const response = await client.call(operation.method, path, body, options);
  assertDocumented(operation, response);
  return response;
}
type Sent = RequestOptions & { id?: string; query?: string; body?: unknown };

const newToken = async () => String((await service.logIn(admin.tenantId, 'boss')).token);
const login = { tenantId: admin.tenantId, username: 'boss', password: PASSWORD };

const now = () => new Date().toISOString();
async function createDeleted(path: string, body: object): Promise<string> {
  const id = await admin.create(path, body);
  await admin.delete(`${path}/${id}`);
  return id;
}
async function takeQuota(what: 'consume' | 'reserve'): Promise<string> {
  const { data } = await child.post(`/system/quota-api/${what}`, {
    quota: 'calls',
    ...(what === 'reserve' ? { seconds: 60 } : {}),
  });
  return String(data.useId ?? data.reservationId);
}
async function lastChange(): Promise<string> {
  await admin.createDepartment();
  const { data } = await admin.get('/system/change-api/list?below=false&limit=1');
  return String(data.rows[0].id);
}

/** A successful call of every operation. The order matters: later calls use what earlier ones created. */
const successes: [id: string, client: Client, sent?: () => Promise<Sent> | Sent][] = [
  ['isLive', anonymous],
  ['isReady', anonymous],
  ['readVersion', anonymous],
  ['logIn', anonymous, () => ({ body: login })],
  ['logIn', anonymous, () => ({ query: 'session=cookie', body: login })],
  ['refresh', anonymous, () => ({ body: { refresh_token: child.refreshToken } })],
  ['readMe', admin],
  ['readMe', member],
  ['listSessions', admin],
  ['endSession', admin, async () => ({ id: String(decodeJwt(await newToken()).sid) })],
  ['changePassword', child, () => ({ body: { oldPassword: PASSWORD, newPassword: 'another horse' } })],
  ['createDepartment', admin, () => ({ body: { deptName: '研发' } })],
  ['readDepartment', member, () => ({ id: top })],
  ['readDepartment', member, () => ({ id: below, query: 'includeDeleted=true' })],
  ['updateDepartment', admin, () => ({ body: { deptId: below, parentId: 0 } })],
  ['patchDepartment', admin, () => ({ id: below, body: { leader: '张三', phone: null } })],
  ['readDepartment', admin, () => ({ id: below })],
  ['patchDepartment', admin, () => ({ id: below, body: { source: 'hr', externalId: '1' } })],
  ['readDepartmentByExternalId', member, () => ({ id: '1' })],
  ['listDepartments', member, () => ({ query: 'source=hr&externalId=1' })],
  ['listDepartments', member, () => ({ query: 'deptName=总&status=0&parentId=0&pageNum=1&pageSize=2' })],
  ['listChildren', member, () => ({ id: '0', query: 'limit=1' })],
  ['listChildren', member, () => ({ id: top })],
  ['listChildren', member, () => ({ id: '0', query: 'counts=true' })],
  ['readTree', member],
  ['readTree', member, () => ({ query: 'counts=true' })],
  ['readTree', member, () => ({ query: `rootId=${top}&depth=1` })],
  ['orderDepartments', admin, () => ({ body: { parentId: 0, deptIds: [below, top] } })],
  ['addDepartments', admin, () => ({ body: { departments: [{ ref: 'a', parentRef: 'b' }, { ref: 'b' }] } })],
  ['listDepartments', member, () => ({ query: 'deptName=总&leader=三&sort=-createTime&withPath=true&cursor=' })],
  ['listDepartments', member, () => ({ query: `underId=${top}&sort=deptName&cursor=&pageSize=1` })],
  ['readDepartments', member, () => ({ body: { ids: [top, below, '7', '9007199254740993'] } })],
  ['listDepartmentUsers', admin, () => ({ id: top, query: 'below=true' })],
  ['readDepartment', member, () => ({ id: top, query: `asOf=${now()}` })],
  ['listChildren', member, () => ({ id: '0', query: `asOf=${now()}` })],
  ['readTree', member, () => ({ query: `asOf=${now()}` })],
  ['listDepartments', member, () => ({ query: `withPath=true&asOf=${now()}` })],
  ['readDepartmentHistory', admin, () => ({ id: top, query: 'sort=time&limit=1' })],
  ['compareDepartments', member, () => ({ query: 'from=2020-01-01' })],
  [
    'deleteDepartments',
    admin,
    async () => ({ id: `${await admin.createDepartment()},${await admin.createDepartment()}` }),
  ],
  ['deleteDepartments', admin, async () => ({ id: await admin.createDepartment(), query: 'subtree=true' })],
  ['createTenant', admin, () => ({ body: { tenantName: '分公司', username: 'first', password: PASSWORD } })],
  ['readTenant', admin, () => ({ id: child.id })],
  ['readTenant', admin, () => ({ id: admin.id })],
  ['readTenant', admin, () => ({ id: admin.id, query: `asOf=${now()}` })],
  ['updateTenant', admin, () => ({ body: { id: child.id, endTime: '2999-12-31', accountCount: 9 } })],
  ['patchTenant', admin, () => ({ id: child.id, body: { quotaBo: { zr: 1 }, ruleBo: { modelZr: null } } })],
  ['listTenants', admin, () => ({ query: `tenantParent=${admin.tenantId}&status=0` })],
  ['listTenants', service.root],
  ['listTenants', service.root, () => ({ query: 'keyword=集&cursor=&pageSize=1' })],
  ['listTenants', service.root, () => ({ query: 'fields=summary' })],
  ['listTenants', service.root, () => ({ query: 'sort=endTime&endsBefore=2999-01-01' })],
  ['readEntitlements', member],
  ['readEntitlements', admin, () => ({ query: `tenantId=${child.tenantId}` })],
  ['readOverview', service.root],
  ['search', admin, () => ({ query: 'q=a' })],
  ['search', admin, () => ({ query: `q=${admin.tenantId}` })],
  ['readOverview', member],
  ['putQuota', admin, () => ({ query: `tenantId=${child.tenantId}`, body: { total: 100, period: 'month' } })],
  ['listQuotas', child],
  ['consumeQuota', child, () => ({ body: { quota: 'calls', amount: 2, subject: '报告' } })],
  ['reserveQuota', child, () => ({ body: { quota: 'calls', seconds: 60 } })],
  ['confirmReservation', child, async () => ({ id: await takeQuota('reserve') })],
  ['releaseReservation', child, async () => ({ id: await takeQuota('reserve'), body: { amount: 1 } })],
  ['refundUse', child, async () => ({ id: await takeQuota('consume') })],
  ['listUses', child, () => ({ query: 'quota=calls' })],
  ['listUses', child, () => ({ query: 'cursor=' })],
  ['readUsage', child, () => ({ query: 'by=user' })],
  ['listQuotasBelow', service.root],
  ['readTenantTree', service.root],
  ['readTenantTree', admin, () => ({ query: `rootId=${child.id}&depth=1` })],
  ['deleteTenant', admin, async () => ({ id: await admin.create('/system/tenant-api', {}) })],
  ['createUser', admin, () => ({ body: { userName: 'new', password: PASSWORD, roles: ['admin', 'member'] } })],
  ['readUser', member, () => ({ id: member.id })],
  ['updateUser', admin, () => ({ body: { userId: member.id, deptIds: [top], phone: '1' } })],
  ['readUser', admin, () => ({ id: member.id })],
  ['patchUser', admin, () => ({ id: member.id, body: { nickName: '小王', deptIds: [top], email: null } })],
  ['patchUser', admin, () => ({ id: member.id, body: { source: 'hr', externalId: '1' } })],
  ['patchDepartment', admin, () => ({ id: top, body: { leaderId: member.id } })],
  ['readDepartment', member, () => ({ id: top })],
  ['listUserSessions', admin, () => ({ id: member.id })],
  ['endUserSessions', admin, async () => ({ id: (await service.createMember(admin)).id })],
  ['readLeaders', admin, () => ({ id: member.id })],
  ['readLeaders', member, () => ({ id: member.id })],
  ['readUserByExternalId', admin, () => ({ id: '1' })],
  ['listUsers', admin, () => ({ query: 'source=hr&externalId=1' })],
  ['readUsers', admin, () => ({ body: { ids: [member.id, '7', '9007199254740993'] } })],
  [
    'addUsers',
    admin,
    () => ({
      body: {
        departments: [{ ref: 'd' }],
        users: [{ ref: 'a', userName: 'bulk', password: PASSWORD, deptRef: 'd', deptRefs: ['d'], deptIds: [top] }],
      },
    }),
  ],
  ['importDepartments', admin, () => ({ query: 'mode=preview', ...form(csv([['部门路径'], ['导入']])) })],
  ['importDepartments', admin, () => ({ query: 'mode=apply', ...form(csv([['部门路径'], ['导入']])) })],
  ['importUsers', admin, () => ({ query: 'mode=apply', ...form(csv([['用户名'], ['imported']])) })],
  ['readUser', admin, () => ({ id: member.id, query: `asOf=${now()}` })],
  ['listUsers', admin, () => ({ query: `deptId=${top}&userName=member&status=0` })],
  ['listUsers', admin, () => ({ query: `tenantId=${child.tenantId}` })],
  ['listUsers', admin, () => ({ query: 'q=小' })],
  ['listUsers', admin, () => ({ query: 'sort=-nickName&cursor=&pageSize=1' })],
  ['listDepartmentUsers', admin, () => ({ id: top, query: 'below=true&cursor=&pageSize=1' })],
  ['addWebhook', admin, () => ({ body: { name: '工资', url: 'http://localhost:9/', status: '1' } })],
  ['listWebhooks', admin],
  ['readWebhook', admin, () => ({ id: webhook })],
  ['updateWebhook', admin, () => ({ body: { id: webhook, url: 'http://127.0.0.1:9/', kinds: ['user.*', '*'] } })],
  ['rotateWebhookSecret', admin, () => ({ id: webhook })],
  ['testWebhook', admin, () => ({ id: webhook })],
  ['listDeliveries', admin, () => ({ id: webhook, query: 'limit=2' })],
  ['resendDelivery', admin, () => ({ id: webhook })],
  ['deleteWebhook', admin, async () => ({ id: await admin.create(hooks, { url: 'http://[::1]:9/' }) })],
  ['addKey', admin, () => ({ body: { keyName: '同步', permissions: ['dept:read'], addresses: ['::1'] } })],
  ['listKeys', admin],
  ['listKeys', admin, () => ({ query: 'cursor=&keyName=同步&status=0' })],
  ['readKey', admin, async () => ({ id: await createKey() })],
  [
    'updateKey',
    admin,
    async () => ({ body: { keyId: await createKey(), keyName: 'k', permissions: ['check'], requestsPerMinute: 9 } }),
  ],
  ['rotateKey', admin, async () => ({ id: await createKey(), body: { graceSeconds: 60 } })],
  ['deleteKey', admin, async () => ({ id: await createKey() })],
  ['deleteUsers', admin, async () => ({ id: await admin.createUser({ userName: 'leaver' }) })],
  ['readChanges', admin],
  ['readChanges', admin, () => ({ query: `after=1&limit=2&wait=1&tenantId=${child.tenantId}` })],
  [
    'listChanges',
    admin,
    () => ({ query: 'resource=department&by=boss&from=2020-01-01&to=2999-01-01T00:00:00Z&limit=2' }),
  ],
  ['listChanges', service.root],
  ['restoreDepartment', admin, async () => ({ id: await createDeleted('/system/dept-api', {}) })],
  [
    'restoreDepartment',
    admin,
    async () => ({ id: await createDeleted('/system/dept-api', {}), body: { parentId: top } }),
  ],
  [
    'restoreUser',
    admin,
    async () => ({ id: await createDeleted('/system/user-api', { userName: 'back', password: PASSWORD }) }),
  ],
  ['restoreTenant', admin, async () => ({ id: await createDeleted('/system/tenant-api', {}) })],
  ...['exportDepartments', 'exportUsers', 'exportTenants', 'readDepartmentTemplate', 'readUserTemplate'].flatMap((id) =>
    ['xlsx', 'csv'].map((format): [string, Client, () => Sent] => [id, admin, () => ({ query: `format=${format}` })]),
  ),
  ['revertChange', admin, async () => ({ id: await lastChange() })],
  ['logOut', member],
];
/** A stream does not end by itself; tests/contract/changes-stream.test.ts covers it. */
const streams = ['streamChanges'];

test('every operation succeeds as documented', async () => {
  for (const [id, client, sent] of successes) {
    const response = await call(client, id, await sent?.());
    const isFile = /^export|Template$/.test(id);
    assert.equal(isFile ? response.status : response.code, 200, `${id}: ${response.text}`);
    if (/^(create|update|delete|change|logOut|endSession)/.test(id)) assert.equal(response.data, null);
    if (/^create/.test(id)) assert.equal((await client.get(String(response.headers.location))).code, 200);
  }
  const called = new Set([...successes.map(([id]) => id), ...streams]);
  assert.deepEqual(
    operations.map(({ operationId }) => operationId).filter((id) => !called.has(id)),
    [],
    'operations missing from the successes above',
  );
});

test('every operation returns authentication, path and body errors as documented', async () => {
  const member = await service.createMember(admin);
  const leaver = await service.createMember(admin);
  await admin.delete(`/system/user-api/${leaver.id}`);
  const disabled = await service.createMember(admin);
  await admin.put('/system/user-api', { userId: disabled.id, status: '1' });
  const deleted = await service.createTenant({}, admin);
  const closed = await service.createTenant({}, admin);
  const ended = await service.createTenant({}, admin);
  const notStarted = await service.createTenant({}, admin);
  await admin.delete(`/system/tenant-api/${deleted.id}`);
  await admin.put('/system/tenant-api', { id: closed.id, status: '1' });
  await admin.put('/system/tenant-api', { id: ended.id, endTime: '2020-01-01' });
  await admin.put('/system/tenant-api', { id: notStarted.id, startTime: '2999-01-01' });
  for (const [n, { operationId: id, body, security = [], path }] of operations.entries()) {
    const base = {
      id: path.startsWith('/auth/sessions') ? randomUUID() : '7',
      ...(body ? { body: {} } : {}),
      ...(path.endsWith('/diff') ? { query: 'from=2020-01-01' } : {}),
      ...(path.endsWith('/search-api') ? { query: 'q=a' } : {}),
      ...(path.endsWith('/import') ? { query: 'mode=preview' } : {}),
    };
    const failures: [expected: number, Client, Sent][] = [];
    if (security.length > 0) {
      failures.push([401, anonymous, base], [401, anonymous, { ...base, headers: { authorization: 'Bearer a.b.c' } }]);
      const inactive: [number, Client][] = [
        [401, leaver],
        [403, disabled],
        [401, deleted],
        [403, closed],
        [403, ended],
        [403, notStarted],
      ];
      // An operation with a body validates the body before it checks whether the caller is active.
      const rejected = sample(inactive, 3, n);
      if (!body) failures.push(...rejected.map(([status, client]): [number, Client, Sent] => [status, client, base]));
    }
    if (path.endsWith('{id}')) failures.push([400, admin, { id: 'x' }], [404, admin, base]);
    if (body) {
      failures.push(
        [400, admin, {}],
        [400, admin, { raw: '{' }],
        [400, admin, { raw: '{"__proto__":1}' }],
        [400, admin, { raw: Buffer.from([0xff]) }],
        [400, admin, { raw: '[]' }],
        [413, admin, { raw: 'x'.repeat(path.endsWith('/bulk') ? 8_400_000 : 1_100_000) }],
        [415, admin, { raw: 'x', headers: { 'content-type': 'text/plain' } }],
      );
    }
    // In the everyday run, an operation gets some of the failures, alternately in an envelope and as problem details.
    for (const [index, [status, client, sent]] of sample(failures, 4, n).entries()) {
      for (const accept of sample(['application/json', 'application/problem+json'], 2, index)) {
        const response = await call(client, id, { ...sent, headers: { ...sent.headers, accept } });
        assert.equal(response.status, status, `${id}: ${response.text}`);
      }
    }
  }
  expectReason('NOT_ALLOWED', await call(member, 'listUsers'));
});

const expectReason = (reason: keyof typeof errorCatalog, { status, data }: ApiResponse) =>
  assert.deepEqual([status, data.reason], [errorCatalog[reason][0], reason]);

test('errors of business rules are documented for the operations that return them', async () => {
  const own = (await call(admin, 'readMe')).data.user.userId;
  const off = await admin.createDepartment({ status: '1' });
  const inside = await admin.createDepartment({ parentId: top });
  const user = await admin.createUser({ userName: 'inside', deptId: inside });
  const grandchild = await service.createTenant({}, child);
  const { tenantId: childCode } = (await admin.get(`/system/tenant-api/${child.id}`)).data;
  const { tenantId: grandchildCode } = (await admin.get(`/system/tenant-api/${grandchild.id}`)).data;
  const onlyAdministrator = (await grandchild.get('/auth/me')).data.user.userId;
  const disabledWebhook = await admin.create(hooks, { url: 'http://127.0.0.1:9/', status: '1' });
  const newUser = { userName: 'extra', password: PASSWORD };
  const cases: [keyof typeof errorCatalog, string, Sent, Client?][] = [
    ['NOT_ALLOWED', 'createDepartment', { body: {} }, await service.createMember(admin)],
    ['OTHER_TENANT', 'createDepartment', { body: { tenantId: '000000' } }],
    ['PARENT_NOT_FOUND', 'createDepartment', { body: { parentId: 7 } }],
    ['LEADER_NOT_FOUND', 'createDepartment', { body: { leaderId: '9007199254740993' } }],
    ['LEADER_NOT_FOUND', 'patchDepartment', { id: off, body: { leaderId: 7 } }],
    ['PARENT_DISABLED', 'createDepartment', { body: { parentId: off } }],
    ['DEPT_NOT_FOUND', 'listDepartmentUsers', { id: '7' }],
    ['TENANT_NOT_FOUND', 'readTenantTree', { query: 'rootId=7' }],
    ['DEPT_NOT_FOUND', 'updateDepartment', { body: { deptId: 7 } }],
    ['DEPT_NOT_FOUND', 'readDepartmentByExternalId', { id: '2' }],
    ['EXTERNAL_ID_TAKEN', 'createDepartment', { body: { source: 'hr', externalId: '1' } }],
    ['DEPT_CYCLE', 'updateDepartment', { body: { deptId: top, parentId: inside } }],
    ['DEPT_HAS_CHILDREN', 'deleteDepartments', { id: top }],
    ['DEPT_HAS_USERS', 'deleteDepartments', { id: top, query: 'subtree=true' }],
    ['DEPT_NOT_FOUND', 'listChildren', { id: '7' }],
    ['DEPT_NOT_FOUND', 'readDepartmentHistory', { id: '7' }],
    ['FIELD_REQUIRED', 'compareDepartments', {}],
    ['DEPT_NOT_FOUND', 'readTree', { query: 'rootId=7' }],
    ['PARENT_NOT_FOUND', 'orderDepartments', { body: { parentId: 7, deptIds: [top] } }],
    ['NOT_CHILDREN', 'orderDepartments', { body: { parentId: 0, deptIds: [7] } }],
    ['PARENT_DISABLED', 'addDepartments', { body: { parentId: off, departments: [{ ref: 'a' }] } }],
    ['OTHER_TENANT', 'addDepartments', { body: { departments: [{ ref: 'a', tenantId: '000000' }] } }],
    ['DEPT_HAS_USERS', 'deleteDepartments', { id: inside }],
    ['TOO_MANY_IDS', 'deleteDepartments', { id: Array.from({ length: 501 }, (_, n) => n).join() }],
    ['FIELD_REQUIRED', 'createTenant', { body: { username: 'alone' } }],
    ['INVALID_FIELD', 'createTenant', { body: { startTime: '2026-01-02', endTime: '2026-01-01' } }],
    ['TENANT_PARENT_NOT_FOUND', 'createTenant', { body: { tenantParent: '999999999999999999' } }],
    ['TENANT_PARENT_FORBIDDEN', 'createTenant', { body: { tenantParent: '000000' } }],
    ['ACCOUNT_LIMIT', 'createTenant', { body: { accountCount: 0, username: 'first', password: PASSWORD } }],
    ['OWN_TENANT', 'updateTenant', { body: { id: admin.id } }],
    ['TENANT_NOT_FOUND', 'updateTenant', { body: { id: '7' } }],
    ['TENANT_CYCLE', 'updateTenant', { body: { id: child.id, tenantParent: grandchildCode } }],
    ['OWN_TENANT', 'deleteTenant', { id: admin.id }],
    ['TENANT_HAS_CHILDREN', 'deleteTenant', { id: child.id }],
    ['USER_NAME_TAKEN', 'createUser', { body: { ...newUser, userName: 'BOSS' } }],
    ['EXTERNAL_ID_TAKEN', 'createUser', { body: { ...newUser, source: 'hr', externalId: '1' } }],
    ['USER_NOT_FOUND', 'readUserByExternalId', { id: '2' }],
    ['USER_DEPT_NOT_FOUND', 'createUser', { body: { ...newUser, deptId: 7 } }],
    ['OTHER_TENANT', 'createUser', { body: { ...newUser, tenantId: '000000' } }],
    ['DEPT_NOT_FOUND', 'patchDepartment', { id: '7', body: {} }],
    ['DEPT_CYCLE', 'patchDepartment', { id: top, body: { parentId: inside } }],
    ['TENANT_NOT_FOUND', 'patchTenant', { id: '7', body: {} }],
    ['USER_NOT_FOUND', 'patchUser', { id: '7', body: {} }],
    ['USER_NAME_TAKEN', 'addUsers', { body: { users: [{ ref: 'a', userName: 'boss', password: PASSWORD }] } }],
    ['USER_NOT_FOUND', 'updateUser', { body: { userId: 7 } }],
    ['USER_NAME_TAKEN', 'updateUser', { body: { userId: user, userName: 'boss' } }],
    ['LAST_ADMINISTRATOR', 'updateUser', { body: { userId: onlyAdministrator, roles: ['member'] } }, grandchild],
    ['OWN_USER', 'deleteUsers', { id: String(own) }],
    ['OTHER_TENANT', 'readUser', { id: '7', query: 'tenantId=000000' }],
    ['USER_NOT_FOUND', 'readUser', { id: '7', query: `tenantId=${childCode}` }],
    ['WEBHOOK_ADDRESS_REFUSED', 'addWebhook', { body: { url: 'https://10.0.0.1/' } }],
    ['WEBHOOK_NOT_FOUND', 'updateWebhook', { body: { id: 7, url: 'http://127.0.0.1/' } }],
    ['WEBHOOK_NOT_FOUND', 'testWebhook', { id: '7' }],
    ['DELIVERY_NOT_FOUND', 'resendDelivery', { id: disabledWebhook }],
    ['WEBHOOK_DISABLED', 'testWebhook', { id: disabledWebhook }],
    ['WRONG_PASSWORD', 'changePassword', { body: { oldPassword: 'x', newPassword: PASSWORD } }],
    ['LOGIN_FAILED', 'logIn', { body: { ...login, username: 'nobody' } }],
    ['REFRESH_REFUSED', 'refresh', { body: { refresh_token: 'x' } }],
    ['REFRESH_REFUSED', 'refresh', { query: 'session=cookie' }],
    [
      'DUPLICATE_COOKIE',
      'refresh',
      { query: 'session=cookie', headers: { cookie: 'banyan_session=a; banyan_session=b' } },
    ],
    ['OTHER_SITE', 'refresh', { query: 'session=cookie', headers: { 'sec-fetch-site': 'cross-site' } }],
  ];
  for (const [reason, id, sent, client = admin] of cases) expectReason(reason, await call(client, id, sent));
  const guess = () => call(anonymous, 'logIn', { body: { ...login, username: 'guessed', password: 'x' } });
  for (let times = 0; times < 5; times++) await guess();
  expectReason('TOO_MANY_LOGINS', await guess());
});
