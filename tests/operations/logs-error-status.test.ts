import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectOwner } from '../../db/driver.ts';
import { createDatabase } from '../support/database.ts';
import { startOnDatabase } from '../support/process.ts';

test('with BANYAN_ERROR_STATUS=200 the log has the real code of each error', async () => {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const run = startOnDatabase(databaseUrl, { BANYAN_ERROR_STATUS: '200' });
  const admin = await run.admin();
  const anonymous = await run.ready();
  const withId = (id: string) => ({ headers: { 'x-request-id': id } });
  await admin.get('/system/dept-api/list', withId('fine'));
  await admin.get('/system/dept-api/999', withId('rule'));
  await admin.get('/system/dept-api/list?status=7', withId('schema'));
  await admin.post('/system/dept-api', undefined, { raw: '{', ...withId('json') });
  await anonymous.get('/system/dept-api/list', withId('token'));
  await anonymous.get('/nope', withId('path'));
  await anonymous.call('PATCH', '/version', undefined, withId('method'));
  await anonymous.get('/%ff', withId('router'));
  const superuser = connectOwner({ url: superuserUrl });
  await superuser`alter table departments rename to temporarily_renamed`;
  await admin.get('/system/dept-api/list', withId('fault'));
  await superuser.end();

  assert.equal(await run.stop(), 0);
  const completed = run.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'request completed');
  assert.deepEqual(Object.fromEntries(completed.slice(-9).map((line) => [line.requestId, [line.status, line.code]])), {
    fine: [200, undefined],
    rule: [200, 404],
    schema: [200, 400],
    json: [200, 400],
    token: [200, 401],
    path: [200, 404],
    method: [200, 405],
    router: [200, 400],
    fault: [200, 500],
  });
});
