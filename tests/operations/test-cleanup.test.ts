import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after } from '../support/cleanup.ts';

describe('cleanups of tests in a suite', () => {
  test('run at the end of the test or subtest that registered them', async (t) => {
    const done: string[] = [];
    after(() => assert.deepEqual(done, ['inner', 'outer']));
    await t.test('a subtest', () => after(() => done.push('inner')));
    assert.deepEqual(done, ['inner']);
    after(() => done.push('outer'));
    assert.deepEqual(done, ['inner']);
  });
});
