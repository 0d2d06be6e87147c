import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectInvalid, expectOk, TENANTS } from '../support/expect.ts';
import { isLong } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';

/** GET /system/tenant-api/list with keyword and cursor, and GET /system/tenant-api/tree. */

const service = await startService();
const admin = await service.createTenant({ tenantName: '集团' });
const names = async (query: string, client: Client = admin): Promise<string[]> => {
  const { data, text } = await client.get(`${TENANTS}/list?${query}`);
  assert.ok(data.rows, text);
  return data.rows.map(({ tenantName }: { tenantName: string }) => tenantName);
};

const created: Client[] = [];
for (const [tenantName, companyName] of [
  ['上海分公司', '申江科技'],
  ['北京分公司', 'Great Wall'],
  ['深圳办事处', '100%_ltd'],
]) {
  created.push(await service.createTenant({ tenantName, companyName }, admin));
}

describe('List of tenants', () => {
  test('keyword matches a part of the name or company, or the beginning of the code', async () => {
    for (const [keyword, expected] of [
      ['分公司', ['上海分公司', '北京分公司']],
      ['江', ['上海分公司']],
      ['great w', ['北京分公司']],
      ['%_', ['深圳办事处']],
      ['集团', ['集团']],
      ['无', []],
    ] as const) {
      assert.deepEqual(await names(`keyword=${encodeURIComponent(keyword)}`), expected, keyword);
    }
    const code = String(created[1]?.tenantId);
    assert.deepEqual(await names(`keyword=${code}`), ['北京分公司']);
    assert.ok((await names(`keyword=${code.slice(0, 5)}`)).includes('北京分公司'));
    const bySuffix = await admin.get(`${TENANTS}/list?keyword=${code.slice(1)}`);
    assert.ok(bySuffix.data.rows.every(({ tenantId }: { tenantId: string }) => tenantId.startsWith(code.slice(1))));
    assert.deepEqual(await names(`keyword=${code}&status=1`), []);
  });

  test('pages by cursor contain all tenants in list order and have no total', async () => {
    const whole = await names('pageSize=500');
    assert.equal(whole.length, 4);
    for (const pageSize of [1, 2, 3, 4, 5]) {
      const all: string[] = [];
      for (let cursor: string | null = ''; cursor !== null && all.length < 20; ) {
        const { data } = await admin.get(`${TENANTS}/list?pageSize=${pageSize}&cursor=${cursor}`);
        assert.deepEqual(Object.keys(data), ['rows', 'next']);
        all.push(...data.rows.map(({ tenantName }: { tenantName: string }) => tenantName));
        cursor = data.next;
      }
      assert.deepEqual(all, whole, `pages of ${pageSize}`);
    }
    const forged = Buffer.from(JSON.stringify(['orderNum', '1', '1'])).toString('base64url');
    for (const cursor of ['x', forged]) expectInvalid(await admin.get(`${TENANTS}/list?cursor=${cursor}`), 'cursor');
  });
});

const top = await service.createTenant({ tenantName: 'top' });
const a = await service.createTenant({ tenantName: 'a', endTime: '2099-12-31' }, top);
const b = await service.createTenant({ tenantName: 'b', startTime: '2020-02-29' }, top);
const aa = await service.createTenant({ tenantName: 'aa' }, a);
const deleted = await service.createTenant({ tenantName: 'gone' }, top);
expectOk(await top.delete(`${TENANTS}/${deleted.id}`));

describe('Tree of tenants', () => {
  const node = (tenant: Client & { id: string }, tenantName: string, children: unknown[], more = {}) => ({
    id: tenant.id,
    tenantId: tenant.tenantId,
    tenantName,
    status: '0',
    startTime: null,
    endTime: null,
    hasChildren: children.length > 0,
    children,
    ...more,
  });
  const subtree = node(a, 'a', [node(aa, 'aa', [])], { endTime: '2099-12-31' });

  test('the tree contains the tenant of the caller and all below it, without deleted ones, in order of creation', async () => {
    expectOk(
      await top.get(`${TENANTS}/tree`),
      node(top, 'top', [subtree, node(b, 'b', [], { startTime: '2020-02-29' })]),
    );
    expectOk(await a.get(`${TENANTS}/tree`), subtree);
  });

  test('rootId and depth limit the tree', async () => {
    expectOk(await top.get(`${TENANTS}/tree?rootId=${a.id}`), subtree);
    const cut = node(a, 'a', [], { endTime: '2099-12-31', hasChildren: true });
    expectOk(
      await top.get(`${TENANTS}/tree?depth=1`),
      node(top, 'top', [cut, node(b, 'b', [], { startTime: '2020-02-29' })]),
    );
    expectOk(await service.root.get(`${TENANTS}/tree?rootId=${aa.id}&depth=1`), node(aa, 'aa', []));
    for (const depth of ['0', '101', 'x']) expectInvalid(await top.get(`${TENANTS}/tree?depth=${depth}`), 'depth');
    expectInvalid(await top.get(`${TENANTS}/tree?rootId=x`), 'rootId');
  });

  test('a root that is deleted, unknown or not below the caller is not found, and members have no tree', async () => {
    for (const rootId of [top.id, b.id, deleted.id, '7777777777777777771', '9999999999999999999']) {
      expectError(await a.get(`${TENANTS}/tree?rootId=${rootId}`), 404, 'TENANT_NOT_FOUND');
    }
    expectError(await (await service.createMember(top)).get(`${TENANTS}/tree`), 403, 'NOT_ALLOWED');
  });

  test('a tree of more than 10,000 tenants is rejected with advice to use depth, and accepted with depth', async () => {
    const wide = await service.createTenant({ tenantName: 'wide' });
    const middle = await service.createTenant({ tenantName: 'middle' }, wide);
    await service.superuser.begin(async (tx) => {
      // Do not record changes: only the number of tenants matters here.
      await tx`set local session_replication_role = replica`;
      await tx`
        insert into tenants (tenant_id, id, parent_id, path, quotas, rules, create_by)
        select '88' || lpad(n::text, 6, '0'), 88000000 + n, ${middle.tenantId}, t.path || ('88' || lpad(n::text, 6, '0')),
          t.quotas, t.rules, 'test'
        from tenants t, generate_series(1, 10000) n where t.tenant_id = ${middle.tenantId}`;
    });
    const rejected = await wide.get(`${TENANTS}/tree`);
    expectError(rejected, 400, 'TENANT_TREE_TOO_LARGE', { limit: 10_000 });
    assert.match(rejected.msg, /depth/);
    const cut = await wide.get(`${TENANTS}/tree?depth=1`);
    assert.deepEqual([cut.data.children.length, cut.data.children[0].hasChildren], [1, true]);
    // Reading so many tenants takes half a second.
    if (!isLong) return;
    // One tenant fewer makes 10,000 in total, with the root.
    await service.superuser`update tenants set del_flag = '2' where id = 88010000`;
    const whole = await middle.get(`${TENANTS}/tree`);
    assert.equal(whole.data.children.length, 9_999);
  });
});
