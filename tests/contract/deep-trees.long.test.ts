// Only with test:long: further reads of a deep chain of departments; contract/deep-trees tests the limit of paths, and contract/departments-tree a chain of 1,000.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS } from '../support/expect.ts';
import { createChain, startDeepTrees } from './deep-trees.ts';
import { outcomes } from './imports.ts';

/** Every read operation must handle a deep chain of departments. */

// With ten times as many levels, the paths of 500 departments would exceed the limit of a response.
const DEPTH = 1_000;
const service = await startDeepTrees();

const { admin, ids } = await createChain(service, DEPTH, (n) => `c${n}`);
const ancestorsOf = (n: number) => [0, ...ids.slice(0, n)].join(',');
const hasCorrectAncestors = ({ deptId, ancestors }: { deptId: number; ancestors: string }) =>
  ancestors === ancestorsOf(ids.indexOf(deptId));

test('deep departments are listed by page number, cursor, name and underId', async () => {
  const last = DEPTH / 500;
  for (const query of [
    `pageNum=${last}`,
    'sort=-orderNum&cursor=',
    `deptName=c${DEPTH / 100 - 1}`,
    `underId=${ids[DEPTH - 501]}`,
  ]) {
    const { rows } = (await admin.get(`${DEPTS}/list?pageSize=500&${query}`)).data;
    assert.ok(rows.length >= 110, `${rows.length} for ${query}`);
    assert.ok(rows.every(hasCorrectAncestors), query);
  }
});

test('withPath lists the names of all ancestors', async () => {
  const { rows } = (await admin.get(`${DEPTS}/list?pageSize=100&pageNum=${DEPTH / 100}&withPath=true`)).data;
  assert.equal(rows.length, 100);
  assert.deepEqual(
    rows.at(-1).pathNames,
    Array.from({ length: DEPTH - 1 }, (_, n) => `c${n}`),
  );
});

test('500 deep departments are read in one batch, and 64 of them with single reads', async () => {
  const requested = ids.slice(-500).reverse();
  const { rows } = (await admin.post(`${DEPTS}/batch-read`, { ids: requested })).data;
  assert.deepEqual(
    rows.map(({ deptId }: { deptId: number }) => deptId),
    requested,
  );
  assert.ok(rows.every(hasCorrectAncestors));
  const single = await Promise.all(requested.slice(0, 64).map((id) => admin.get(`${DEPTS}/${id}`)));
  assert.ok(single.every((response) => hasCorrectAncestors(response.data)));
});

test('a small subtree next to a deep chain can be listed', async () => {
  const top = await admin.createDepartment({ orderNum: DEPTH });
  const below = await Promise.all(
    Array.from({ length: 29 }, (_, n) => admin.createDepartment({ parentId: top, orderNum: DEPTH + n })),
  );
  for (const query of ['', '&cursor=', '&deptName=', '&deptName=&cursor=']) {
    const { status, data, text } = await admin.get(`${DEPTS}/list?underId=${top}&pageSize=500${query}`);
    assert.equal(status, 200, text.slice(0, 200));
    assert.equal(data.rows.length, below.length);
  }
  const { data } = await admin.get(`${DEPTS}/list?underId=${ids[DEPTH - 11]}&deptName=c&pageSize=500`);
  assert.deepEqual([data.rows.length, data.total], [10, 10]);
});

test('users are imported into a department below more than 1,000 others', async () => {
  const { admin } = await createChain(service, 1_200, (n) => `${n}`);
  const path = Array.from({ length: 1_200 }, (_, n) => `${n}`).join('/');
  const rows = [
    ['用户名', '部门'],
    ['deep', path],
  ];
  assert.deepEqual(await outcomes(admin, 'user', rows), ['created']);
});
