import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { createChain, startDeepTrees } from './deep-trees.ts';

const DEPTH = scale(500, 10_000);
const service = await startDeepTrees();

test('a request is rejected if the paths in its response would be too long', async () => {
  const { admin: withLongNames } = await createChain(service, DEPTH, (n) => `${'部'.repeat(95)}${n}`);
  const member = await service.createMember(withLongNames);
  const responses = await Promise.all([
    member.get(`${DEPTS}/diff?from=2020-01-01`),
    member.get(`${DEPTS}/list?pageSize=500&pageNum=${DEPTH / 500}&withPath=true`),
  ]);
  for (const response of responses) expectError(response, 400, 'PATHS_TOO_LONG', { limit: 10_000_000 });
  // A smaller page stays below the limit.
  assert.equal((await member.get(`${DEPTS}/list?pageSize=20&withPath=true`)).data.rows.length, 20);
});
