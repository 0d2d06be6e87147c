import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError } from '../support/expect.ts';
import { shareService } from '../support/service.ts';

const service = await shareService();

test('q finds users by a part of their user name, nickname or phone', async () => {
  const admin = await service.createTenant();
  await admin.createUser({ userName: 'wang.wei', nickName: '王伟', phone: '13800001111' });
  await admin.createUser({ userName: 'li', nickName: 'Wanda 李', phone: '13900002222', status: '1' });
  await admin.createUser({ userName: 'zhao', nickName: null, phone: null });
  const search = async (query: string) => {
    const { data } = await admin.get(`/system/user-api/list?${encodeURI(query)}`);
    assert.equal(data.rows.length, data.total);
    return data.rows.map(({ userName }: { userName: string }) => userName);
  };
  assert.deepEqual(await search('q=WAN'), ['wang.wei', 'li']);
  assert.deepEqual(await search('q=伟'), ['wang.wei']);
  assert.deepEqual(await search('q=0000'), ['wang.wei', 'li']);
  assert.deepEqual(await search('q=wan&status=1'), ['li']);
  assert.deepEqual(await search('q=wan&userName=wang'), ['wang.wei']);
  assert.deepEqual(await search("q=%' or true --"), []);
  assert.deepEqual(await search('q='), ['boss', 'wang.wei', 'li', 'zhao']);
  assert.deepEqual((await admin.get('/system/user-api/list?q=wan&pageSize=1')).data.total, 2);
  const outsider = await service.createTenant();
  assert.equal((await outsider.get('/system/user-api/list?q=wang')).data.total, 0);
  assert.equal((await service.root.get(`/system/user-api/list?q=wang&tenantId=${admin.tenantId}`)).data.total, 1);
});

test('sort=endTime lists tenants by endTime, those without one last, by page number and by cursor', async () => {
  const admin = await service.createTenant({ endTime: '2999-06-01' });
  const ends = ['2999-03-01', undefined, '2999-01-01', '2999-03-01', undefined];
  for (const endTime of ends) await admin.create('/system/tenant-api', { endTime });
  const rowsOf = async (query: string) => (await admin.get(`/system/tenant-api/list?${query}`)).data;
  const end = ({ endTime }: { endTime: string | null }) => endTime;
  const expected = ['2999-01-01', '2999-03-01', '2999-03-01', '2999-06-01', null, null];
  const whole = await rowsOf('sort=endTime');
  assert.deepEqual([whole.rows.map(end), whole.total], [expected, 6]);
  for (const size of [1, 2, 4]) {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { rows: { id: string }[]; next: string | null } = await rowsOf(
        `sort=endTime&pageSize=${size}&cursor=${cursor}`,
      );
      ids.push(...page.rows.map(({ id }) => id));
      cursor = page.next;
    }
    assert.deepEqual(
      ids,
      whole.rows.map(({ id }: { id: string }) => id),
    );
  }
  const before = await rowsOf('sort=endTime&endsBefore=2999-03-01');
  assert.deepEqual([before.rows.map(end), before.total], [['2999-01-01'], 1]);
  assert.equal((await rowsOf('endsBefore=2999-03-02')).total, 3);
  const { next } = await rowsOf('pageSize=1&cursor=');
  expectError(await admin.get(`/system/tenant-api/list?sort=endTime&cursor=${next}`), 400, 'INVALID_FIELD', {
    field: 'cursor',
  });
});
