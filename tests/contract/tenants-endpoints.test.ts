import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read, TENANTS } from '../support/expect.ts';
import { Client, startService } from '../support/service.ts';

/** The interface's table of tenant endpoints, row by row, and its rules: above all, that update is full replacement. */

const service = await startService();
const { root, superuser } = service;
const tenant = (id: string) => read(root, `${TENANTS}/${id}`);
/** What a client may say of a tenant, as a read shows it. */
const fields = async (id: string) => {
  const { id: _, tenantId: __, tenantParent: ___, ...rest } = await tenant(id);
  return rest;
};

const quotas = { enterpriseQuery: 1, annualReportQuery: 2, chainReport: 3, businessReport: 4, riskReport: 5 };
const full = {
  tenantName: '上海分公司',
  startTime: '2026-01-01',
  endTime: '2099-12-31',
  contactUserName: '李四',
  contactPhone: '13800138000',
  companyName: '榕树科技',
  status: '1',
  accountCount: 50,
  packageBo: { menuIds: '1, 2, 3' },
  quotaBo: { ...quotas, merchant: 6 },
  ruleBo: {
    modelZr: 'a',
    modelPf: 'b',
    modelEd: 'c',
    catalogZr: 'd',
    catalogPf: 'e',
    catalogEd: 'f',
    catalogRw: 'g',
  },
};
const hidden = { riskReportUsed: 7, zr: 8, credit: 9, pf: 10 };
const sent = { ...full, quotaBo: { ...full.quotaBo, ...hidden } };
const cleared = {
  tenantName: null,
  startTime: null,
  endTime: null,
  contactUserName: null,
  contactPhone: null,
  companyName: null,
  status: '0',
  accountCount: -1,
  packageBo: { menuIds: '' },
  quotaBo: Object.fromEntries(Object.keys(full.quotaBo).map((key) => [key, 0])),
  ruleBo: Object.fromEntries(Object.keys(full.ruleBo).map((key) => [key, null])),
};

const operations: [name: string, call: (client: Client, id: string) => ReturnType<Client['get']>][] = [
  ['Create tenant', (client) => client.post(TENANTS, {})],
  ['Read tenant', (client, id) => client.get(`${TENANTS}/${id}`)],
  ['Update tenant', (client, id) => client.put(TENANTS, { id })],
  ['Delete tenant', (client, id) => client.delete(`${TENANTS}/${id}`)],
  ['List tenants', (client) => client.get(`${TENANTS}/list`)],
];

describe('endpoints', () => {
  test('Create tenant: data is null, and Location tells where to read it', async () => {
    const { headers } = expectOk(await root.post(TENANTS, sent));
    assert.match(String(headers.location), /^\/system\/tenant-api\/\d+$/);
    const { id } = await read(root, String(headers.location));
    assert.equal(`${TENANTS}/${id}`, headers.location);
    assert.deepEqual(await fields(id), full);
  });

  test('Create tenant: nothing is required but a JSON object', async () => {
    assert.deepEqual(await fields(await root.create(TENANTS, {})), cleared);
    for (const body of [[], 'x', 7]) expectError(await root.post(TENANTS, body), 400, 'INVALID_FIELD');
    expectError(await root.post(TENANTS), 400, 'BODY_REQUIRED');
  });

  test('Read tenant: the full TenantDTO, and nothing else', async () => {
    const id = await root.create(TENANTS, sent);
    const { code, msg, data } = await root.get(`${TENANTS}/${id}`);
    assert.deepEqual([code, msg], [200, '操作成功']);
    assert.deepEqual(Object.keys(data).sort(), ['id', 'tenantId', 'tenantParent', ...Object.keys(full)].sort());
  });

  test('Update tenant: data is null', async () => {
    expectOk(await root.put(TENANTS, { id: await root.create(TENANTS, {}), ...sent }));
  });

  test('Delete tenant: data is null', async () => {
    expectOk(await root.delete(`${TENANTS}/${await root.create(TENANTS, {})}`));
  });

  for (const [name, call] of operations) {
    test(`${name}: a request without a valid access token is rejected`, async () => {
      const id = await root.create(TENANTS, sent);
      const before = await tenant(id);
      expectError(await call(service.anonymous, id), 401, 'NO_TOKEN');
      expectError(await call(new Client(service.base, 'a.b.c'), id), 401, 'INVALID_TOKEN');
      assert.deepEqual(await tenant(id), before);
    });

    test(`${name}: only administrators, not members, of 000000 neither`, async () => {
      const boss = await service.createTenant();
      const below = await boss.create(TENANTS, sent);
      const before = await tenant(below);
      const total = (await read(root, `${TENANTS}/list`)).total;
      for (const of of [boss, root]) expectError(await call(await service.createMember(of), below), 403, 'NOT_ALLOWED');
      assert.deepEqual(await tenant(below), before);
      assert.equal((await read(root, `${TENANTS}/list`)).total, total);
    });
  }
});

describe('update is a full replacement', () => {
  const kept = async (id: string) => (await superuser`select quotas from tenants where id = ${id}`)[0]?.quotas;

  test('all fields are replaced', async () => {
    const id = await root.create(TENANTS, {});
    expectOk(await root.put(TENANTS, { id, ...sent }));
    assert.deepEqual(await fields(id), full);
    assert.deepEqual(await kept(id), sent.quotaBo);
  });

  test('what is not sent is cleared: menus, all ten quotas, rules, dates, contacts, status, accountCount', async () => {
    const id = await root.create(TENANTS, sent);
    const { tenantId, tenantParent } = await tenant(id);
    expectOk(await root.put(TENANTS, { id }));
    assert.deepEqual(await tenant(id), { id, tenantId, tenantParent, ...cleared });
    assert.deepEqual(await kept(id), Object.fromEntries(Object.keys(sent.quotaBo).map((key) => [key, 0])));
  });

  for (const field of Object.keys(full) as (keyof typeof full)[]) {
    test(`${field}: cleared when it alone is not sent, or null, and the others stay as sent`, async () => {
      const id = await root.create(TENANTS, sent);
      const { tenantId, tenantParent } = await tenant(id);
      const expected = { id, tenantId, tenantParent, ...full, [field]: cleared[field] };
      expectOk(await root.put(TENANTS, { id, ...sent, [field]: undefined }));
      assert.deepEqual(await tenant(id), expected);
      expectOk(await root.put(TENANTS, { id, ...sent }));
      expectOk(await root.put(TENANTS, { id, ...sent, [field]: null }));
      assert.deepEqual(await tenant(id), expected);
    });
  }

  test('inside packageBo, quotaBo and ruleBo too', async () => {
    const id = await root.create(TENANTS, sent);
    expectOk(await root.put(TENANTS, { id, packageBo: {}, quotaBo: { merchant: 3, pf: 4 }, ruleBo: { modelEd: 'x' } }));
    const { packageBo, quotaBo, ruleBo } = await tenant(id);
    assert.deepEqual(packageBo, cleared.packageBo);
    assert.deepEqual(quotaBo, { ...cleared.quotaBo, merchant: 3 });
    assert.deepEqual(ruleBo, { ...cleared.ruleBo, modelEd: 'x' });
    const zeros = Object.fromEntries(Object.keys(sent.quotaBo).map((key) => [key, 0]));
    assert.deepEqual(await kept(id), { ...zeros, merchant: 3, pf: 4 });
  });

  test('a body that was read can be sent back, with fields that the service owns or does not know', async () => {
    const id = await root.create(TENANTS, sent);
    const before = await tenant(id);
    expectOk(
      await root.put(TENANTS, { ...before, delFlag: '2', createBy: 'x', path: ['1'], username: 'x', stranger: {} }),
    );
    assert.deepEqual(await tenant(id), before);
  });

  test('null counts as not sent, for id as for every field', async () => {
    const nothing = Object.fromEntries([...Object.keys(full), 'tenantParent', 'username', 'password'].map(toNull));
    assert.deepEqual(await fields(await root.create(TENANTS, nothing)), cleared);
    expectError(await root.put(TENANTS, { id: null }), 400, 'FIELD_REQUIRED', { field: 'id' });
  });

  test('a refused update changes nothing', async () => {
    const id = await root.create(TENANTS, sent);
    const before = await tenant(id);
    expectError(await root.put(TENANTS, { id, tenantName: 'x', endTime: 'x' }), 400, 'INVALID_FIELD', {
      field: 'endTime',
    });
    expectError(await root.put(TENANTS, { id, tenantName: 'x', quotaBo: { zr: -1 } }), 400, 'INVALID_FIELD');
    assert.deepEqual(await tenant(id), before);
  });
});

const toNull = (key: string) => [key, null];
