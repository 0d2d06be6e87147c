import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertDocumented, readOperations } from '../support/document.ts';
import { each, expectError, storedState } from '../support/expect.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';
import { fieldsOf, withField, wrongValues } from './wrong-values.ts';

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' });
const boss = await service.createTenant();
const member = await service.createMember(boss);
const child = await service.createTenant({}, boss);
const deptId = await boss.createDepartment();
// Disabled: nothing is sent, and nothing noted of it.
const url = 'http://127.0.0.1:9/';
const { data: hook } = await boss.post('/system/webhook-api', { url, status: '1' });
const gone = await boss.createDepartment();
await boss.delete(`/system/dept-api/${gone}`);
const operations = (await readOperations(service)).map((operation) => ({
  ...operation,
  path: operation.path.replace('{id}', gone),
}));

/** For each operation that takes a body: who sends it, and the least that is accepted. */
const bodies: Record<string, [caller: Client, body: Record<string, unknown>]> = {
  createDepartment: [boss, {}],
  readDepartments: [boss, { ids: [] }],
  updateDepartment: [boss, { deptId }],
  orderDepartments: [boss, { parentId: 0, deptIds: [deptId] }],
  addDepartments: [boss, { departments: [{ ref: 'a' }] }],
  createTenant: [boss, { username: 'first', password: PASSWORD }],
  updateTenant: [boss, { id: child.id }],
  createUser: [boss, { userName: 'another', password: PASSWORD }],
  updateUser: [boss, { userId: member.id }],
  logIn: [service.anonymous, { tenantId: boss.tenantId, username: 'boss', password: PASSWORD }],
  refresh: [service.anonymous, { refresh_token: child.refreshToken }],
  addWebhook: [boss, { url, status: '1' }],
  updateWebhook: [boss, { id: hook.id, url, status: '1' }],
  restoreDepartment: [boss, {}],
  changePassword: [boss, { oldPassword: PASSWORD, newPassword: 'another horse' }],
};

for (const operation of operations.filter(({ body }) => body)) {
  const { operationId, method, path, body: schema = {} } = operation;

  test(`${method} ${path}: a wrong value in any field is refused by the field's name, and nothing is written`, async () => {
    const [caller, base] = bodies[operationId] ?? assert.fail(`Say above what ${operationId} takes`);
    const before = await storedState(service);
    const cases = fieldsOf(schema).flatMap(({ name, schema }) => {
      const values = wrongValues(schema);
      assert.ok(values.length >= 4, `too few wrong values for ${name}`);
      return values.map((json) => ({ name, json }));
    });
    await each(cases, async ({ name, json }) => {
      const raw = withField(base, name, json);
      const answer = await caller.call(method, path, undefined, { raw });
      // A wrong element may be told as the list's fault.
      const field = name.endsWith('[0]') ? answer.data.field?.replace(/(?<!\[0\])$/, '[0]') : answer.data.field;
      expectError(answer, 400, 'INVALID_FIELD', {}, `${name} as ${json.slice(0, 60)}`);
      assert.equal(field, name, `${name} as ${json.slice(0, 60)} answered ${answer.text}`);
      assert.ok(answer.msg.includes(name.replace(/\[0\]$/, '')), answer.msg);
      assertDocumented(operation, answer);
    });
    assert.deepEqual(await storedState(service), before);
  });

  test(`${method} ${path}: a required field left out, or null, is missed by its name`, async () => {
    const [caller, base] = bodies[operationId] ?? assert.fail(`Say above what ${operationId} takes`);
    const before = await storedState(service);
    for (const { name } of fieldsOf(schema).filter(({ required }) => required)) {
      for (const value of [undefined, null]) {
        const answer = await caller.call(method, path, { ...base, [name]: value });
        expectError(answer, 400, 'FIELD_REQUIRED', { field: name }, `${name} ${value}`);
        assertDocumented(operation, answer);
      }
    }
    assert.deepEqual(await storedState(service), before);
  });
}

test('the same bodies without a fault are accepted', async () => {
  for (const { operationId, method, path, body } of operations) {
    if (!body) continue;
    const [caller, base] = bodies[operationId] as [Client, Record<string, unknown>];
    const nulls = Object.fromEntries(
      fieldsOf(body)
        .filter(({ name, required }) => !required && !/[.[]/.test(name) && !(name in base))
        .map(({ name }) => [name, null]),
    );
    const answer = await caller.call(method, path, { ...nulls, ...base });
    assert.equal(answer.code, 200, `${operationId}: ${answer.text}`);
  }
});

test('the sentence names the field in English too', async () => {
  const headers = { 'accept-language': 'en' };
  const { msg, data } = await service.root.post('/system/tenant-api', { quotaBo: { merchant: -1 } }, { headers });
  assert.equal(msg, 'quotaBo.merchant must be ≥ 0.');
  assert.equal(data.field, 'quotaBo.merchant');
});
