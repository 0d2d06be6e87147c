import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PASSWORD } from '../support/database.ts';
import { CHANGES, DEPTS, databaseTime, expectError, expectInvalid, expectOk, read, USERS } from '../support/expect.ts';
import { asTenant, type Client, shareService } from '../support/service.ts';

/** Departments and users have the id that another system gave them: `source` and `externalId`. */

const service = await shareService();
const admin = await service.createTenant();
let count = 0;
/** Returns an external id that no other test uses, with characters that need encoding in a path. */
const newExternalId = () => ({ source: 'hr/系统 1', externalId: `a/b %${++count}?#` });
const externalIdOf = ({ source, externalId }: { source: unknown; externalId: unknown }) => ({ source, externalId });

/** Departments and users follow the same rules. */
const resources = [
  {
    name: 'department',
    path: DEPTS,
    idField: 'deptId',
    create: (client: Client, body: object = {}) => client.createDepartment({ deptName: 'd', ...body }),
    body: () => ({ deptName: 'd' }),
    bulk: (rows: object[]) => ({ departments: rows.map((row, n) => ({ ref: `r${n}`, ...row })) }),
    list: 'departments',
  },
  {
    name: 'user',
    path: USERS,
    idField: 'userId',
    create: (client: Client, body: object = {}) => client.createUser({ userName: `u${++count}`, ...body }),
    body: () => ({ userName: `u${++count}`, password: PASSWORD }),
    bulk: (rows: object[]) => ({
      users: rows.map((row, n) => ({ ref: `r${n}`, userName: `u${++count}`, password: PASSWORD, ...row })),
    }),
    list: 'users',
  },
];

for (const { name, path, idField, create, body, bulk, list } of resources) {
  describe(`The external id of a ${name}`, () => {
    const put = (id: string, fields: object = {}) =>
      admin.put(path, { [idField]: id, ...(name === 'department' ? { deptName: 'renamed' } : {}), ...fields });
    const shown = async (id: string, query = '') => externalIdOf(await read(admin, `${path}/${id}${query}`));

    test('is stored if it is sent, and is null otherwise', async () => {
      const wanted = newExternalId();
      assert.deepEqual(await shown(await create(admin, wanted)), wanted);
      assert.deepEqual(await shown(await create(admin)), { source: null, externalId: null });
    });

    test('consists of both fields or neither, within their limits', async () => {
      const id = await create(admin, newExternalId());
      for (const [fields, missing] of [
        [{ source: 'hr' }, 'externalId'],
        [{ externalId: '1' }, 'source'],
        [{ source: null, externalId: '1' }, 'source'],
      ] as const) {
        expectInvalid(await admin.post(path, { ...body(), ...fields }), missing, 'FIELD_REQUIRED');
        expectInvalid(await put(id, fields), missing, 'FIELD_REQUIRED');
        expectInvalid(await admin.post(`${path}/bulk`, bulk([fields])), `${list}[0].${missing}`, 'FIELD_REQUIRED');
      }
      expectInvalid(await admin.patch(`${path}/${id}`, { source: null, externalId: '1' }), 'source', 'FIELD_REQUIRED');
      for (const [fields, field] of [
        [{ source: '', externalId: '1' }, 'source'],
        [{ source: 'x'.repeat(51), externalId: '1' }, 'source'],
        [{ source: 'hr', externalId: '' }, 'externalId'],
        [{ source: 'hr', externalId: 'x'.repeat(201) }, 'externalId'],
        [{ source: 'hr', externalId: 1 }, 'externalId'],
      ] as const)
        expectInvalid(await admin.post(path, { ...body(), ...fields }), field);
      const longest = { source: '源'.repeat(50), externalId: '号'.repeat(200) };
      assert.deepEqual(await shown(await create(admin, longest)), longest);
    });

    test('stays when a replacement omits it, and is erased with null', async () => {
      const [wanted, other] = [newExternalId(), newExternalId()];
      const id = await create(admin, wanted);
      expectOk(await put(id));
      assert.deepEqual(await shown(id), wanted);
      expectOk(await put(id, other));
      assert.deepEqual(await shown(id), other);
      expectOk(await put(id, { source: null }));
      assert.deepEqual(await shown(id), { source: null, externalId: null });
    });

    test('is changed by a patch, one field at a time or both', async () => {
      const wanted = newExternalId();
      const id = await create(admin, wanted);
      expectOk(await admin.patch(`${path}/${id}`, { phone: '1' }));
      assert.deepEqual(await shown(id), wanted);
      expectOk(await admin.patch(`${path}/${id}`, { externalId: 'patched' }));
      assert.deepEqual(await shown(id), { ...wanted, externalId: 'patched' });
      expectOk(await admin.patch(`${path}/${id}`, { externalId: null }));
      assert.deepEqual(await shown(id), { source: null, externalId: null });
      expectInvalid(await admin.patch(`${path}/${id}`, { externalId: '1' }), 'source', 'FIELD_REQUIRED');
    });

    test('is unique in its tenant, and available again once it is erased', async () => {
      const wanted = newExternalId();
      const first = await create(admin, wanted);
      const second = await create(admin, { ...wanted, source: 'other' });
      const taken = (response: Parameters<typeof expectError>[0], fields = {}) =>
        expectError(response, 409, 'EXTERNAL_ID_TAKEN', fields);
      taken(await admin.post(path, { ...body(), ...wanted }));
      taken(await put(second, wanted));
      taken(await admin.patch(`${path}/${second}`, { source: wanted.source }));
      taken(await admin.post(`${path}/bulk`, bulk([newExternalId(), wanted])), { field: `${list}[1].externalId` });
      await create(await service.createTenant(), wanted);
      expectOk(await put(first, { source: null, externalId: null }));
      expectOk(await put(second, wanted));
    });

    test('is accepted in a bulk creation, but not twice', async () => {
      const [first, second] = [newExternalId(), newExternalId()];
      const { data } = await admin.post(`${path}/bulk`, bulk([first, {}, second]));
      const ids: number[] = data[`${idField}s`];
      assert.deepEqual(await Promise.all(ids.map((id) => shown(String(id)))), [
        first,
        { source: null, externalId: null },
        second,
      ]);
      const third = newExternalId();
      expectInvalid(await admin.post(`${path}/bulk`, bulk([third, third])), `${list}[1].externalId`);
    });

    test('finds its record, in its own tenant only', async () => {
      const wanted = newExternalId();
      const id = await create(admin, wanted);
      const byExternalId = `${path}/external/${encodeURIComponent(wanted.source)}/${encodeURIComponent(wanted.externalId)}`;
      const [found, expected] = [await admin.get(byExternalId), await admin.get(`${path}/${id}`)];
      expectOk(found, expected.data);
      assert.equal(found.headers.etag, expected.headers.etag);
      const cached = await admin.get(byExternalId, { headers: { 'if-none-match': String(found.headers.etag) } });
      assert.equal(cached.status, 304);
      const missing = name === 'user' ? 'USER_NOT_FOUND' : 'DEPT_NOT_FOUND';
      const below = await service.createTenant({}, admin);
      expectError(await below.get(byExternalId), 404, missing);
      expectError(await admin.get(`${byExternalId}?tenantId=${below.tenantId}`), 404, missing);
      const belowId = await create(below, wanted);
      const { data } = await admin.get(`${byExternalId}?tenantId=${below.tenantId}`);
      assert.equal(String(data[idField]), belowId);
      expectInvalid(await admin.get(`${path}/external/${'x'.repeat(51)}/1`), 'source');
      expectInvalid(await admin.get(`${path}/external/hr/${'x'.repeat(201)}`), 'externalId');
      expectOk(await admin.delete(`${path}/${id}`));
      expectError(await admin.get(byExternalId), 404, missing);
    });

    test('filters the list, each field by itself and both together', async () => {
      const source = `list ${name}`;
      const ids: string[] = [];
      for (const externalId of ['1', '2', '10']) ids.push(await create(admin, { source, externalId }));
      await create(admin, { source: `${source} `, externalId: `${name} 2` });
      const listed = async (query: Record<string, string>) => {
        const { rows, total } = await read(admin, `${path}/list?${new URLSearchParams(query)}`);
        if (total !== undefined) assert.equal(total, rows.length);
        return rows.map((row: Record<string, unknown>) => String(row[idField]));
      };
      assert.deepEqual(await listed({ source }), ids);
      assert.deepEqual(await listed({ source, externalId: '2' }), [ids[1]]);
      assert.deepEqual(await listed({ source, externalId: 'x' }), []);
      assert.deepEqual(await listed({ source: source.toUpperCase() }), []);
      assert.equal((await listed({ externalId: `${name} 2` })).length, 1);
      assert.deepEqual(await listed({ source, externalId: '2', status: '1' }), []);
      if (name === 'user') return;
      assert.deepEqual(await listed({ source, externalId: '2', cursor: '' }), [ids[1]]);
      assert.deepEqual(await listed({ source, cursor: '' }), ids);
      assert.deepEqual(await listed({ source, externalId: '2', underId: String(ids[0]) }), []);
      assert.deepEqual(await listed({ source, externalId: '2', underId: '0' }), [ids[1]]);
      const asOf = await databaseTime(service);
      expectOk(await put(String(ids[1]), { source: null }));
      assert.deepEqual(await listed({ source, externalId: '2', asOf }), [ids[1]]);
      assert.deepEqual(await listed({ source, asOf }), ids);
      assert.deepEqual(await listed({ source, externalId: '2' }), []);
      assert.deepEqual(await shown(String(ids[1]), `?asOf=${asOf}`), { source, externalId: '2' });
    });

    test('is recorded in the audit log, and restored by a revert unless another record has taken it', async () => {
      const [wanted, other] = [newExternalId(), newExternalId()];
      const id = await create(admin, wanted);
      expectOk(await put(id, other));
      const { rows } = await read(admin, `${CHANGES}/list?below=false&limit=1`);
      assert.deepEqual([rows[0].before, rows[0].after].map(externalIdOf), [wanted, other]);
      const rival = await create(admin, wanted);
      const revert = () => admin.post(`${CHANGES}/${rows[0].id}/revert`);
      expectError(await revert(), 409, 'EXTERNAL_ID_TAKEN');
      expectOk(await put(rival, { source: null }));
      assert.equal((await revert()).code, 200);
      assert.deepEqual(await shown(id), wanted);
    });

    test('survives deletion and restore, unless another record has taken it', async () => {
      const wanted = newExternalId();
      const first = await create(admin, wanted);
      expectOk(await admin.delete(`${path}/${first}`));
      expectOk(await admin.post(`${path}/${first}/restore`, {}));
      assert.deepEqual(await shown(first), wanted);
      expectOk(await admin.delete(`${path}/${first}`));
      const second = await create(admin, wanted);
      expectError(await admin.post(`${path}/${first}/restore`, {}), 409, 'EXTERNAL_ID_TAKEN');
      expectOk(await put(second, { source: null }));
      expectOk(await admin.post(`${path}/${first}/restore`, {}));
      assert.deepEqual(await shown(first), wanted);
    });
  });
}

test('a query by external id can use its index, under row-level security too', async () => {
  await asTenant(service.owner, admin.tenantId, async (tx) => {
    await tx`set local enable_seqscan = off`;
    await tx`set local enable_bitmapscan = off`;
    for (const table of ['departments', 'users']) {
      const plan = await tx`
        explain select * from ${tx(table)}
        where tenant_id = ${admin.tenantId} and source = 'hr' and external_id = '1' and del_flag = '0'`;
      assert.match(JSON.stringify(plan), new RegExp(`Index Scan using ${table}_external_id`));
    }
  });
});

test('a department keeps its external id when it is moved', async () => {
  const wanted = newExternalId();
  const [top, id] = [await admin.createDepartment(), await admin.createDepartment(wanted)];
  expectOk(await admin.put(DEPTS, { deptId: id, parentId: top }));
  assert.deepEqual(externalIdOf(await read(admin, `${DEPTS}/${id}`)), wanted);
});
