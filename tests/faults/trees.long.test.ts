// Only with test:long: trees.test.ts covers that two large trees are sent at a time, and contract/departments-tree-large.test.ts what a large tree contains.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { DEPTS } from '../support/expect.ts';
import { waitFor } from '../support/wait.ts';
import { startWithLargeTrees } from './large-trees.ts';
import { databaseOf, startNode } from './node.ts';

const { service, tenants, openTree, waitForOpen } = await startWithLargeTrees();
const [a, b, c] = tenants;
const TREE = `${DEPTS}/tree`;

test('two large trees are sent concurrently; a third waits, and other requests are served', async () => {
  const node = await startNode(await databaseOf(service));
  const [one, two] = [await openTree(node.as(a)), await openTree(node.as(b))];
  await waitForOpen(2);
  const connectionsInUse = () => node.uses.begun - node.uses.ended;
  const { ended } = node.uses;
  let isThirdAnswered = false;
  const third = openTree(node.as(c)).then((tree) => {
    isThirdAnswered = true;
    return tree;
  });
  await waitFor('the third tree was found to be large', () => node.uses.ended > ended);
  // By now it would have requested another connection if it did not wait.
  await setImmediate();
  assert.equal(connectionsInUse(), 2);
  assert.equal((await node.as(c).get(`${TREE}?depth=2`)).code, 200);
  assert.equal((await node.as(c).get(`${DEPTS}/list`)).code, 200);
  assert.equal(connectionsInUse(), 2);
  assert.equal(isThirdAnswered, false);
  assert.equal((await one.rest()).complete, true);
  assert.equal((await (await third).rest()).complete, true);
  assert.equal((await two.rest()).complete, true);
  await waitForOpen(0);
});

test('a tree that was too large to be serialized in memory is read only once by the next request', async () => {
  const node = await startNode(await databaseOf(service));
  const client = node.as(c);
  assert.equal((await client.get('/auth/me')).code, 200);
  const countReads = async () => {
    const { begun } = node.uses;
    assert.equal((await (await openTree(client)).rest()).complete, true);
    return node.uses.begun - begun;
  };
  assert.deepEqual([await countReads(), await countReads()], [2, 1]);
});
