import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendRaw } from '../support/raw.ts';
import { type Client, startService } from '../support/service.ts';
import { type Query, watched } from '../support/watched.ts';

/**
 * A plain read of a department is answered without the framework, once the token is known; with a query, or anything
 * else that is unusual, by the route. Nobody may be able to tell which it was.
 */

const service = await startService();
const dept = '/system/dept-api';
const LONG = '?includeDeleted=false';

/** What both ways answer, which must be the same; with the same request id, and without the clock. */
async function bothWays(client: Client, path: string, headers: Record<string, string> = {}) {
  const options = { headers: { 'x-request-id': 'the-same', ...headers } };
  const [short, long] = [await client.get(path, options), await client.get(path + LONG, options)];
  const shown = ({ status, text, headers: { date: _, ...rest } }: typeof short) => ({ status, text, headers: rest });
  assert.deepEqual(shown(short), shown(long));
  return short;
}

async function known<T extends Client>(client: T): Promise<T> {
  assert.equal((await client.get(`${dept}/list`)).code, 200);
  return client;
}

test('both ways answer the same, to the letter', async () => {
  const boss = await known(await service.createTenant());
  const top = await boss.createDepartment({ deptName: '总部 "1" \\ \u2028 🌳' });
  const low = await boss.createDepartment({
    parentId: top,
    deptName: 'x',
    leader: '张三',
    email: 'a@b.cn',
    phone: '1',
    orderNum: -3,
  });
  for (const id of [top, low]) {
    const { data, headers } = await bothWays(boss, `${dept}/${id}`);
    assert.equal(String(data.deptId), id);
    assert.equal(headers['x-request-id'], 'the-same');
  }
  const { headers } = await boss.get(`${dept}/${low}`, { headers: { 'x-request-id': 'not one of ours!' } });
  assert.match(String(headers['x-request-id']), /^[\da-f]{8}-/);
});

test('its ETag is good for a change, once', async () => {
  const boss = await known(await service.createTenant());
  const id = await boss.createDepartment();
  const { headers } = await boss.get(`${dept}/${id}`);
  const ifMatch = { headers: { 'if-match': String(headers.etag) } };
  assert.equal((await boss.put(dept, { deptId: id, deptName: 'b' }, ifMatch)).code, 200);
  assert.equal((await boss.put(dept, { deptId: id, deptName: 'c' }, ifMatch)).status, 412);
  assert.equal((await boss.get(`${dept}/${id}`)).data.deptName, 'b');
});

test('what is not there, and who may not, is refused the same way by both', async () => {
  const boss = await known(await service.createTenant());
  const other = await known(await service.createTenant());
  const [id, gone] = [await boss.createDepartment(), await boss.createDepartment()];
  await boss.delete(`${dept}/${gone}`);
  for (const path of [gone, '9007199254740991', '9007199254740993', '0', '00', `0${id}`, 'x']) {
    await bothWays(boss, `${dept}/${path}`);
    await bothWays(boss, `${dept}/${path}`, { 'accept-language': 'en', accept: 'application/problem+json' });
  }
  assert.equal((await bothWays(other, `${dept}/${id}`)).status, 404);
  const member = await known(await service.createMember(boss));
  assert.equal((await bothWays(member, `${dept}/${id}`)).status, 200);
  await boss.put('/system/user-api', { ...(await boss.get(`/system/user-api/${member.id}`)).data, status: '1' });
  assert.equal((await bothWays(member, `${dept}/${id}`)).data.reason, 'USER_DISABLED');
  await boss.post('/auth/logout');
  assert.equal((await bothWays(boss, `${dept}/${id}`)).data.reason, 'SESSION_ENDED');
});

test('a request without Host, with Expect or with a body is treated as everywhere', async () => {
  const boss = await known(await service.createTenant());
  const id = await boss.createDepartment();
  const unusual = [
    [],
    ['Host: x'],
    ['Host: x', 'Expect: x'],
    ['Host: x', 'Content-Length: 0'],
    ['Host: x', 'Origin: https://a.b'],
  ];
  for (const more of unusual) {
    const lines = [`Authorization: Bearer ${boss.token}`, 'X-Request-Id: a', 'Connection: close', ...more, '', ''];
    const [short, long] = await Promise.all(
      ['', LONG].map((query) => sendRaw(service.base, [`GET ${dept}/${id}${query} HTTP/1.1`, ...lines].join('\r\n'))),
    );
    const shown = (answer = short) => ({ status: answer?.status, text: answer?.text, ...answer?.headers, date: '' });
    assert.deepEqual(shown(), shown(long));
    assert.equal(short?.status, more.length === 0 || more[1] === 'Expect: x' ? 400 : 200);
  }
});

test('what is not there is looked for once', async () => {
  const queries: Query[] = [];
  const counted = await startService({}, { between: watched(queries) });
  const boss = await known(await counted.createTenant());
  const reads = () => queries.splice(0).filter(({ string }) => string?.includes('read_departments(')).length;
  reads();
  assert.equal((await boss.get(`${dept}/999999`)).status, 404);
  assert.equal(reads(), 1);
  await boss.post('/auth/logout');
  assert.equal((await boss.get(`${dept}/999999`)).data.reason, 'SESSION_ENDED');
  assert.equal(reads(), 1);
});
