import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk } from '../support/expect.ts';
import { firstSeed, scale, seededRandom } from '../support/scale.ts';
import { type Client, shareService } from '../support/service.ts';

/** GET /system/dept-api/tree. departments-tree-large.test.ts and tests/faults/trees.test.ts cover large trees. */

const service = await shareService();
const admin = await service.createTenant();
const neighbour = await service.createTenant();

const tree = (query = '', client: Client = admin) => client.get(`${DEPTS}/tree${query && `?${query}`}`);

interface Node {
  deptId: number;
  parentId: number;
  hasChildren: boolean;
  children: Node[];
}
/** Renders nested ids as text such as `1(2 3(4+))`; `+` marks a department whose children are cut off. */
const render = (nodes: Node[]): string =>
  nodes
    .map(({ deptId, hasChildren, children }) => {
      if (children.length > 0) assert.equal(hasChildren, true);
      return `${deptId}${children.length > 0 ? `(${render(children)})` : hasChildren ? '+' : ''}`;
    })
    .join(' ');

/** Creates a root with two levels below it, not in id order; one department is disabled. One on a third level is deleted. */
async function createFamily(client: Client) {
  const root = await client.createDepartment({ deptName: '总部', leader: '张三', orderNum: 1 });
  const late = await client.createDepartment({ parentId: root, orderNum: 9 });
  const early = await client.createDepartment({ parentId: root, orderNum: -1, deptName: '"引号"\n🌳' });
  const below = await client.createDepartment({ parentId: late, status: '1' });
  const deep = await client.createDepartment({ parentId: early });
  const deleted = await client.createDepartment({ parentId: deep });
  await client.delete(`${DEPTS}/${deleted}`);
  return { root, late, early, below, deep };
}

describe('Tree', () => {
  test('the tree of a tenant is nested and in display order, with the documented fields', async () => {
    const client = await service.createTenant();
    expectOk(await tree('', client), []);
    const { root, late, early, below, deep } = await createFamily(client);
    const first = await client.createDepartment({ orderNum: 0 });
    const response = await tree('', client);
    assert.equal(render(response.data), `${first} ${root}(${early}(${deep}) ${late}(${below}))`);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(response.headers['cache-control'], 'no-store');
    const { children, ...shown } = response.data[1];
    const expected = { deptId: Number(root), parentId: 0, deptName: '总部', orderNum: 1, leader: '张三', status: '0' };
    assert.deepEqual(shown, { ...expected, hasChildren: true });
    assert.equal(children[0].deptName, '"引号"\n🌳');
    assert.deepEqual(children[1].children[0], {
      deptId: Number(below),
      parentId: Number(late),
      deptName: '',
      orderNum: 0,
      leader: null,
      status: '1',
      hasChildren: false,
      children: [],
    });
    assert.equal((await tree('rootId=0', client)).text, response.text);
    assert.equal((await tree('rootId=&depth=', client)).text, response.text);
  });

  test('rootId returns a subtree including its root', async () => {
    const { root, late, early, below, deep } = await createFamily(admin);
    const { data } = await tree(`rootId=${root}`);
    assert.equal(render(data), `${root}(${early}(${deep}) ${late}(${below}))`);
    assert.equal(render((await tree(`rootId=00${early}`)).data), `${early}(${deep})`);
    assert.equal((await tree(`rootId=${early}`)).data[0].parentId, Number(root));
    assert.equal(render((await tree(`rootId=${deep}`)).data), deep);
  });

  test('depth limits the levels and marks departments whose children are cut off', async () => {
    const client = await service.createTenant();
    const { root, late, early, below, deep } = await createFamily(client);
    const alone = await client.createDepartment({ orderNum: 5 });
    for (const [depth, expected] of [
      ['1', `${root}+ ${alone}`],
      ['2', `${root}(${early}+ ${late}+) ${alone}`],
      ['3', `${root}(${early}(${deep}) ${late}(${below})) ${alone}`],
      ['4', `${root}(${early}(${deep}) ${late}(${below})) ${alone}`],
      ['2147483646', `${root}(${early}(${deep}) ${late}(${below})) ${alone}`],
    ]) {
      assert.equal(render((await tree(`depth=${depth}`, client)).data), expected, `depth ${depth}`);
    }
    assert.equal(render((await tree(`rootId=${root}&depth=1`, client)).data), `${root}+`);
    assert.equal(render((await tree(`rootId=${deep}&depth=1`, client)).data), deep);
    for (const depth of ['0', '-1', '1.5', 'x', '2147483647']) expectInvalid(await tree(`depth=${depth}`), 'depth');
  });

  test('a randomly shaped tree agrees with the list', async () => {
    const client = await service.createTenant();
    const { below, pick } = seededRandom(firstSeed);
    const departments = Array.from({ length: scale(150, 400) }, (_, n) => ({
      ref: `${n}`,
      ...(n > 3 && below(20) ? { parentRef: `${pick([n - 1, below(n), below(n)])}` } : {}),
      orderNum: below(4),
    }));
    await client.post(`${DEPTS}/bulk`, { departments });
    const { rows } = (await client.get(`${DEPTS}/list?pageSize=500`)).data as { rows: Node[] };
    const expected = (parentId: number): string =>
      rows
        .filter((row) => row.parentId === parentId)
        .map(({ deptId }) => withChildren(deptId, expected(deptId)))
        .join(' ');
    const withChildren = (deptId: number, children: string) => `${deptId}${children && `(${children})`}`;
    assert.equal(render((await tree('', client)).data), expected(0));
    const some = pick(rows).deptId;
    assert.equal(render((await tree(`rootId=${some}`, client)).data), withChildren(some, expected(some)));
  });

  test('any user of the tenant may read the tree, other tenants may not', async () => {
    const { root } = await createFamily(admin);
    const member = await service.createMember(admin);
    assert.equal((await tree('', member)).text, (await tree('', admin)).text);
    expectOk(await tree('', neighbour), []);
    expectError(await tree(`rootId=${root}`, neighbour), 404, 'DEPT_NOT_FOUND');
  });

  test('a root that is unknown, deleted or of another tenant returns the same 404', async () => {
    const [deleted, foreign] = [await admin.createDepartment(), await neighbour.createDepartment()];
    await admin.delete(`${DEPTS}/${deleted}`);
    const texts = [];
    for (const id of [deleted, foreign, '999999999', '9007199254740993', '9223372036854775807']) {
      for (const depth of ['', '&depth=2']) {
        const response = await tree(`rootId=${id}${depth}`);
        expectError(response, 404, 'DEPT_NOT_FOUND');
        texts.push(response.text);
      }
    }
    assert.equal(new Set(texts).size, 1);
    for (const id of ['-1', 'x', '1.5', '9223372036854775808']) expectInvalid(await tree(`rootId=${id}`), 'rootId');
  });

  test('HEAD returns the status and length of GET without the body', async () => {
    const [get, head] = [await tree(), await admin.call('HEAD', `${DEPTS}/tree`)];
    assert.deepEqual([head.status, head.text], [get.status, '']);
    assert.equal(head.headers['content-length'], get.headers['content-length']);
  });
});
