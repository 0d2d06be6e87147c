import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk } from '../support/expect.ts';
import { chance, firstSeed } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';

/** A branch, or all departments, as a tree. Large ones: branches-large, and tests/faults/trees. */

const service = await startService();
const boss = await service.createTenant();
const neighbour = await service.createTenant();

const tree = (query = '', client: Client = boss) => client.get(`${DEPTS}/tree${query && `?${query}`}`);

interface Node {
  deptId: number;
  parentId: number;
  hasChildren: boolean;
  children: Node[];
}
/** `1(2 3(4+))`: ids as they are nested; `+` has children that are not shown. */
const drawn = (nodes: Node[]): string =>
  nodes
    .map(({ deptId, hasChildren, children }) => {
      if (children.length > 0) assert.equal(hasChildren, true);
      return `${deptId}${children.length > 0 ? `(${drawn(children)})` : hasChildren ? '+' : ''}`;
    })
    .join(' ');

/** Three levels below one root, in no order of ids; one branch is disabled, one child deleted. */
async function family(client: Client) {
  const root = await client.createDepartment({ deptName: '总部', leader: '张三', orderNum: 1 });
  const late = await client.createDepartment({ parentId: root, orderNum: 9 });
  const early = await client.createDepartment({ parentId: root, orderNum: -1, deptName: '"引号"\n🌳' });
  const below = await client.createDepartment({ parentId: late, status: '1' });
  const deep = await client.createDepartment({ parentId: early });
  const gone = await client.createDepartment({ parentId: deep });
  await client.delete(`${DEPTS}/${gone}`);
  return { root, late, early, below, deep };
}

describe('Tree', () => {
  test('of the whole tenant: nested, in display order, with these fields', async () => {
    const client = await service.createTenant();
    expectOk(await tree('', client), []);
    const { root, late, early, below, deep } = await family(client);
    const first = await client.createDepartment({ orderNum: 0 });
    const answer = await tree('', client);
    assert.equal(drawn(answer.data), `${first} ${root}(${early}(${deep}) ${late}(${below}))`);
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(answer.headers['cache-control'], 'no-store');
    const { children, ...shown } = answer.data[1];
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
    assert.equal((await tree('rootId=0', client)).text, answer.text);
    assert.equal((await tree('rootId=&depth=', client)).text, answer.text);
  });

  test('of a branch, its root included', async () => {
    const { root, late, early, below, deep } = await family(boss);
    const { data } = await tree(`rootId=${root}`);
    assert.equal(drawn(data), `${root}(${early}(${deep}) ${late}(${below}))`);
    assert.equal(drawn((await tree(`rootId=00${early}`)).data), `${early}(${deep})`);
    assert.equal((await tree(`rootId=${early}`)).data[0].parentId, Number(root));
    assert.equal(drawn((await tree(`rootId=${deep}`)).data), deep);
  });

  test('depth cuts it off, and says where', async () => {
    const client = await service.createTenant();
    const { root, late, early, below, deep } = await family(client);
    const alone = await client.createDepartment({ orderNum: 5 });
    for (const [depth, expected] of [
      ['1', `${root}+ ${alone}`],
      ['2', `${root}(${early}+ ${late}+) ${alone}`],
      ['3', `${root}(${early}(${deep}) ${late}(${below})) ${alone}`],
      ['4', `${root}(${early}(${deep}) ${late}(${below})) ${alone}`],
      ['2147483646', `${root}(${early}(${deep}) ${late}(${below})) ${alone}`],
    ]) {
      assert.equal(drawn((await tree(`depth=${depth}`, client)).data), expected, `depth ${depth}`);
    }
    assert.equal(drawn((await tree(`rootId=${root}&depth=1`, client)).data), `${root}+`);
    assert.equal(drawn((await tree(`rootId=${deep}&depth=1`, client)).data), deep);
    for (const depth of ['0', '-1', '1.5', 'x', '2147483647']) expectInvalid(await tree(`depth=${depth}`), 'depth');
  });

  test('is what the list of departments says, of any shape', async () => {
    const client = await service.createTenant();
    const { below, pick } = chance(firstSeed);
    const departments = Array.from({ length: 400 }, (_, n) => ({
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
    assert.equal(drawn((await tree('', client)).data), expected(0));
    const some = pick(rows).deptId;
    assert.equal(drawn((await tree(`rootId=${some}`, client)).data), withChildren(some, expected(some)));
  });

  test('any user of the tenant may ask; nobody sees another’s', async () => {
    const { root } = await family(boss);
    const member = await service.createMember(boss);
    assert.equal((await tree('', member)).text, (await tree('', boss)).text);
    expectOk(await tree('', neighbour), []);
    expectError(await tree(`rootId=${root}`, neighbour), 404, 'DEPT_NOT_FOUND');
  });

  test('unknown, deleted, another tenant’s root: 404, told alike', async () => {
    const [gone, foreign] = [await boss.createDepartment(), await neighbour.createDepartment()];
    await boss.delete(`${DEPTS}/${gone}`);
    const texts = [];
    for (const id of [gone, foreign, '999999999', '9007199254740993', '9223372036854775807']) {
      for (const depth of ['', '&depth=2']) {
        const answer = await tree(`rootId=${id}${depth}`);
        expectError(answer, 404, 'DEPT_NOT_FOUND');
        texts.push(answer.text);
      }
    }
    assert.equal(new Set(texts).size, 1);
    for (const id of ['-1', 'x', '1.5', '9223372036854775808']) expectInvalid(await tree(`rootId=${id}`), 'rootId');
  });

  test('HEAD answers as GET does, without the body', async () => {
    const [get, head] = [await tree(), await boss.call('HEAD', `${DEPTS}/tree`)];
    assert.deepEqual([head.status, head.text], [get.status, '']);
    assert.equal(head.headers['content-length'], get.headers['content-length']);
  });
});
