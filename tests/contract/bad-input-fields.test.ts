import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, runCases, watchWrites } from '../support/expect.ts';
import { assertDocumented, readOperations } from '../support/openapi.ts';
import { sample } from '../support/scale.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';
import { fieldsOf, invalidValues, withField } from './invalid-values.ts';

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' });
const admin = await service.createTenant();
const member = await service.createMember(admin);
const child = await service.createTenant({}, admin);
const deptId = await admin.createDepartment();
// The webhook is disabled, so no delivery changes the stored state that the tests compare.
const url = 'http://127.0.0.1:9/';
const { data: hook } = await admin.post('/system/webhook-api', { url, status: '1' });
const key = { keyName: 'key', permissions: ['dept:read'] };
const { data: existing } = await admin.post('/system/key-api', key);
const deleted = await admin.createDepartment();
await admin.delete(`/system/dept-api/${deleted}`);
const company = await service.createTenant({ quotaBo: { merchant: 9 } });
const reserve = async () =>
  String((await company.post('/system/quota-api/reserve', { quota: 'merchant', seconds: 86_400 })).data.reservationId);
/** The id that an operation gets. The operations that are not listed here get that of the deleted department. */
const ids: Record<string, string> = {
  patchDepartment: deptId,
  patchTenant: child.id,
  patchUser: member.id,
  rotateKey: String(existing.keyId),
  confirmReservation: await reserve(),
  releaseReservation: await reserve(),
};
const operations = (await readOperations(service)).map((operation) => ({
  ...operation,
  path: operation.path
    .replace('{id}', ids[operation.operationId] ?? deleted)
    .replace('{quota}', `calls?tenantId=${child.tenantId}`),
}));

/** The caller and a valid body of each operation that takes a body. */
const bodies: Record<string, [caller: Client, body: Record<string, unknown>]> = {
  createDepartment: [admin, {}],
  readDepartments: [admin, { ids: [] }],
  updateDepartment: [admin, { deptId }],
  orderDepartments: [admin, { parentId: 0, deptIds: [deptId] }],
  addDepartments: [admin, { departments: [{ ref: 'a' }] }],
  patchDepartment: [admin, { parentId: 0 }],
  patchTenant: [admin, { tenantParent: admin.tenantId }],
  patchUser: [admin, { userName: 'patched', password: PASSWORD }],
  readUsers: [admin, { ids: [] }],
  addUsers: [admin, { departments: [{ ref: 'd' }], users: [{ ref: 'a', userName: 'bulk', password: PASSWORD }] }],
  createTenant: [admin, { username: 'first', password: PASSWORD }],
  updateTenant: [admin, { id: child.id }],
  createUser: [admin, { userName: 'another', password: PASSWORD }],
  updateUser: [admin, { userId: member.id }],
  logIn: [service.anonymous, { tenantId: admin.tenantId, username: 'boss', password: PASSWORD }],
  refresh: [service.anonymous, { refresh_token: child.refreshToken }],
  addWebhook: [admin, { url, status: '1' }],
  updateWebhook: [admin, { id: hook.id, url, status: '1' }],
  restoreDepartment: [admin, {}],
  addKey: [admin, key],
  updateKey: [admin, { keyId: existing.keyId, ...key }],
  rotateKey: [admin, {}],
  consumeQuota: [company, { quota: 'merchant' }],
  reserveQuota: [company, { quota: 'merchant', seconds: 60 }],
  confirmReservation: [company, {}],
  releaseReservation: [company, {}],
  putQuota: [admin, { total: 5 }],
  changePassword: [admin, { oldPassword: PASSWORD, newPassword: 'another horse' }],
};

const expectNothingWritten = await watchWrites(service);

for (const [n, operation] of operations.filter(({ body }) => body).entries()) {
  const { operationId, method, path, body: schema = {} } = operation;

  test(`${method} ${path}: an invalid value in any field is rejected with the name of the field and writes nothing`, async () => {
    const [caller, base] = bodies[operationId] ?? assert.fail(`add ${operationId} to the bodies above`);
    const cases = fieldsOf(schema).flatMap(({ name, schema }, field) => {
      const values = invalidValues(schema);
      assert.ok(values.length >= 4, `too few wrong values for ${name}`);
      // In the everyday run, a field that several operations have gets different values in each of them.
      return sample(values, Math.min(values.length, 10), field + n).map((json) => ({ name, json }));
    });
    await runCases(cases, async ({ name, json }) => {
      const raw = withField(base, name, json);
      const response = await caller.call(method, path, undefined, { raw });
      // An invalid element may be reported as an error of the whole list.
      const field = name.endsWith('[0]') ? response.data.field?.replace(/(?<!\[0\])$/, '[0]') : response.data.field;
      expectError(response, 400, 'INVALID_FIELD', {}, `${name} as ${json.slice(0, 60)}`);
      assert.equal(field, name, `${name} as ${json.slice(0, 60)} returned ${response.text}`);
      assert.ok(response.msg.includes(name.replace(/\[0\]$/, '')), response.msg);
      assertDocumented(operation, response);
    });
    await expectNothingWritten();
  });

  test(`${method} ${path}: a required field that is missing or null is rejected with its name`, async () => {
    const [caller, base] = bodies[operationId] ?? assert.fail(`add ${operationId} to the bodies above`);
    for (const { name } of fieldsOf(schema).filter(({ required }) => required)) {
      for (const value of [undefined, null]) {
        const response = await caller.call(method, path, { ...base, [name]: value });
        expectError(response, 400, 'FIELD_REQUIRED', { field: name }, `${name} ${value}`);
        assertDocumented(operation, response);
      }
    }
    await expectNothingWritten();
  });
}

test('the same bodies are accepted with valid values, and with null in the other optional fields', async () => {
  for (const { operationId, method, path, body } of operations) {
    if (!body) continue;
    const [caller, base] = bodies[operationId] as [Client, Record<string, unknown>];
    const nulls = Object.fromEntries(
      fieldsOf(body)
        .filter(({ name, required }) => !required && !/[.[]/.test(name) && !(name in base))
        .map(({ name }) => [name, null]),
    );
    const response = await caller.call(method, path, { ...nulls, ...base });
    assert.equal(response.code, 200, `${operationId}: ${response.text}`);
  }
});

test('the English message names the field', async () => {
  const headers = { 'accept-language': 'en' };
  const { msg, data } = await service.root.post('/system/tenant-api', { quotaBo: { merchant: -1 } }, { headers });
  assert.equal(msg, 'quotaBo.merchant must be ≥ 0.');
  assert.equal(data.field, 'quotaBo.merchant');
});
