import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeRecentLog } from '../support/logs.ts';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

test('with BANYAN_ERROR_STATUS=200 the log has the real code of each error', async () => {
  const { root: admin, anonymous, superuser } = await startService({ BANYAN_ERROR_STATUS: '200' });
  const withId = (id: string) => ({ headers: { 'x-request-id': id } });
  await admin.get('/system/dept-api/list', withId('fine'));
  await admin.get('/system/dept-api/999', withId('rule'));
  await admin.get('/system/dept-api/list?status=7', withId('schema'));
  await admin.post('/system/dept-api', undefined, { raw: '{', ...withId('json') });
  await anonymous.get('/system/dept-api/list', withId('token'));
  await anonymous.get('/nope', withId('path'));
  await anonymous.call('PATCH', '/version', undefined, withId('method'));
  await anonymous.get('/%ff', withId('router'));
  await superuser`alter table departments rename to temporarily_renamed`;
  await admin.get('/system/dept-api/list', withId('fault'));

  const lines: string[] = [];
  const completed = await waitFor('all are logged', () => {
    lines.push(...takeRecentLog());
    const found = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request completed');
    return found.at(-1)?.requestId === 'fault' ? found : undefined;
  });
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
