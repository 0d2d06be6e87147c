import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';

/** Every read operation must handle a chain of departments as deep as one bulk request may create. */

const DEPTH = scale(1_000, 10_000);
const service = await startService({ BANYAN_DEPARTMENT_LEVELS: '20000' });

async function createChain(nameOf: (n: number) => string): Promise<{ admin: Client; ids: number[] }> {
  const admin = await service.createTenant();
  const departments = Array.from({ length: DEPTH }, (_, n) => ({
    ref: `r${n}`,
    ...(n > 0 ? { parentRef: `r${n - 1}` } : {}),
    deptName: nameOf(n),
    orderNum: n,
  }));
  const { data } = await admin.post(`${DEPTS}/bulk`, { departments });
  return { admin, ids: data.deptIds };
}

const { admin, ids } = await createChain((n) => `c${n}`);
const ancestorsOf = (n: number) => [0, ...ids.slice(0, n)].join(',');
const hasCorrectAncestors = ({ deptId, ancestors }: { deptId: number; ancestors: string }) =>
  ancestors === ancestorsOf(ids.indexOf(deptId));

test('a page of the 500 deepest departments is listed by page number, cursor, name and underId', async () => {
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

test('500 deep departments are read in one batch and one by one', async () => {
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

test('paths too long for one response are rejected while other requests are served', async () => {
  const { admin: withLongNames } = await createChain((n) => `${'部'.repeat(95)}${n}`);
  const member = await service.createMember(withLongNames);
  const reading = Promise.all([
    member.get(`${DEPTS}/diff?from=2020-01-01`),
    member.get(`${DEPTS}/list?pageSize=500&pageNum=${DEPTH / 500}&withPath=true`),
  ]);
  let done = false;
  void reading.finally(() => {
    done = true;
  });
  do assert.equal((await admin.get('/health/live')).status, 200);
  while (!done);
  for (const response of await reading) expectError(response, 400, 'PATHS_TOO_LONG', { limit: 10_000_000 });
  // A smaller page stays below the limit.
  assert.equal((await member.get(`${DEPTS}/list?pageSize=20&withPath=true`)).data.rows.length, 20);
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
