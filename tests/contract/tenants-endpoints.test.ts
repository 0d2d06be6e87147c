import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read, TENANTS } from '../support/expect.ts';
import { Client, shareService } from '../support/service.ts';

/** The operations on tenants, and which fields an update replaces. */

const service = await shareService();
const { root, superuser } = service;
const readTenant = (id: string) => read(root, `${TENANTS}/${id}`);
/** Reads the fields of a tenant that an update without them resets: all except the ids and the parent. */
const readFields = async (id: string) => {
  const { id: _, tenantId: __, tenantParent: ___, ...rest } = await readTenant(id);
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
  ['creating a tenant', (client) => client.post(TENANTS, {})],
  ['reading a tenant', (client, id) => client.get(`${TENANTS}/${id}`)],
  ['updating a tenant', (client, id) => client.put(TENANTS, { id })],
  ['deleting a tenant', (client, id) => client.delete(`${TENANTS}/${id}`)],
  ['listing tenants', (client) => client.get(`${TENANTS}/list`)],
];

describe('Operations on tenants', () => {
  test('creating a tenant returns null and the path of the tenant in Location', async () => {
    const { headers } = expectOk(await root.post(TENANTS, sent));
    assert.match(String(headers.location), /^\/system\/tenant-api\/\d+$/);
    const { id } = await read(root, String(headers.location));
    assert.equal(`${TENANTS}/${id}`, headers.location);
    assert.deepEqual(await readFields(id), full);
  });

  test('creating a tenant requires only a JSON object', async () => {
    assert.deepEqual(await readFields(await root.create(TENANTS, {})), cleared);
    for (const body of [[], 'x', 7]) expectError(await root.post(TENANTS, body), 400, 'INVALID_FIELD');
    expectError(await root.post(TENANTS), 400, 'BODY_REQUIRED');
  });

  test('reading a tenant returns exactly the documented fields', async () => {
    const id = await root.create(TENANTS, sent);
    const { code, msg, data } = await root.get(`${TENANTS}/${id}`);
    assert.deepEqual([code, msg], [200, '操作成功']);
    assert.deepEqual(Object.keys(data).sort(), ['id', 'tenantId', 'tenantParent', ...Object.keys(full)].sort());
  });

  test('updating a tenant returns null', async () => {
    expectOk(await root.put(TENANTS, { id: await root.create(TENANTS, {}), ...sent }));
  });

  test('deleting a tenant returns null', async () => {
    expectOk(await root.delete(`${TENANTS}/${await root.create(TENANTS, {})}`));
  });

  for (const [name, call] of operations) {
    test(`${name} requires a valid access token`, async () => {
      const id = await root.create(TENANTS, sent);
      const before = await readTenant(id);
      expectError(await call(service.anonymous, id), 401, 'NO_TOKEN');
      expectError(await call(new Client(service.base, 'a.b.c'), id), 401, 'INVALID_TOKEN');
      assert.deepEqual(await readTenant(id), before);
    });

    test(`${name} is rejected for members, including those of 000000`, async () => {
      const admin = await service.createTenant();
      const below = await admin.create(TENANTS, sent);
      const before = await readTenant(below);
      const total = (await read(root, `${TENANTS}/list`)).total;
      for (const creator of [admin, root])
        expectError(await call(await service.createMember(creator), below), 403, 'NOT_ALLOWED');
      assert.deepEqual(await readTenant(below), before);
      assert.equal((await read(root, `${TENANTS}/list`)).total, total);
    });
  }
});

describe('An update replaces all fields', () => {
  const storedQuotas = async (id: string) => (await superuser`select quotas from tenants where id = ${id}`)[0]?.quotas;

  test('an update sets all fields', async () => {
    const id = await root.create(TENANTS, {});
    expectOk(await root.put(TENANTS, { id, ...sent }));
    assert.deepEqual(await readFields(id), full);
    assert.deepEqual(await storedQuotas(id), sent.quotaBo);
  });

  test('an update without fields resets menus, the six shown quotas, rules, dates, contacts, status and accountCount', async () => {
    const id = await root.create(TENANTS, sent);
    const { tenantId, tenantParent } = await readTenant(id);
    expectOk(await root.put(TENANTS, { id }));
    assert.deepEqual(await readTenant(id), { id, tenantId, tenantParent, ...cleared });
    assert.deepEqual(await storedQuotas(id), { ...cleared.quotaBo, ...hidden });
  });

  for (const field of Object.keys(full) as (keyof typeof full)[]) {
    test(`${field} is reset when it is missing or null, and the other fields are set as sent`, async () => {
      const id = await root.create(TENANTS, sent);
      const { tenantId, tenantParent } = await readTenant(id);
      const expected = { id, tenantId, tenantParent, ...full, [field]: cleared[field] };
      expectOk(await root.put(TENANTS, { id, ...sent, [field]: undefined }));
      assert.deepEqual(await readTenant(id), expected);
      expectOk(await root.put(TENANTS, { id, ...sent }));
      expectOk(await root.put(TENANTS, { id, ...sent, [field]: null }));
      assert.deepEqual(await readTenant(id), expected);
    });
  }

  test('missing fields within packageBo, quotaBo and ruleBo are reset', async () => {
    const id = await root.create(TENANTS, sent);
    expectOk(await root.put(TENANTS, { id, packageBo: {}, quotaBo: { merchant: 3, pf: 4 }, ruleBo: { modelEd: 'x' } }));
    const { packageBo, quotaBo, ruleBo } = await readTenant(id);
    assert.deepEqual(packageBo, cleared.packageBo);
    assert.deepEqual(quotaBo, { ...cleared.quotaBo, merchant: 3 });
    assert.deepEqual(ruleBo, { ...cleared.ruleBo, modelEd: 'x' });
    assert.deepEqual(await storedQuotas(id), { ...cleared.quotaBo, ...hidden, merchant: 3, pf: 4 });
  });

  test('a tenant that was read can be sent back, and read-only and unknown fields are ignored', async () => {
    const id = await root.create(TENANTS, sent);
    const before = await readTenant(id);
    expectOk(
      await root.put(TENANTS, { ...before, delFlag: '2', createBy: 'x', path: ['1'], username: 'x', unknown: {} }),
    );
    assert.deepEqual(await readTenant(id), before);
    assert.deepEqual(await storedQuotas(id), sent.quotaBo, 'quotas that no read shows keep their values');
  });

  test('a quota that no read shows changes only when it is sent, also to 0', async () => {
    const id = await root.create(TENANTS, sent);
    const put = async (quotaBo: object | null) => {
      expectOk(await root.put(TENANTS, { id, quotaBo }));
      return storedQuotas(id);
    };
    assert.deepEqual(await put(null), { ...cleared.quotaBo, ...hidden });
    assert.deepEqual(await put({ zr: null, credit: 0 }), { ...cleared.quotaBo, ...hidden, credit: 0 });
    assert.deepEqual(await put({ riskReportUsed: 5 }), {
      ...cleared.quotaBo,
      ...hidden,
      credit: 0,
      riskReportUsed: 5,
    });
  });

  test('null counts as missing for every field including id', async () => {
    const nulls = Object.fromEntries([...Object.keys(full), 'tenantParent', 'username', 'password'].map(toNull));
    assert.deepEqual(await readFields(await root.create(TENANTS, nulls)), cleared);
    expectError(await root.put(TENANTS, { id: null }), 400, 'FIELD_REQUIRED', { field: 'id' });
  });

  test('a rejected update changes nothing', async () => {
    const id = await root.create(TENANTS, sent);
    const before = await readTenant(id);
    expectError(await root.put(TENANTS, { id, tenantName: 'x', endTime: 'x' }), 400, 'INVALID_FIELD', {
      field: 'endTime',
    });
    expectError(await root.put(TENANTS, { id, tenantName: 'x', quotaBo: { zr: -1 } }), 400, 'INVALID_FIELD');
    assert.deepEqual(await readTenant(id), before);
  });
});

const toNull = (key: string) => [key, null];
