import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';
import { insertDepartments } from '../support/trees.ts';

/** GET /system/search-api: departments, users and tenants. */

const service = await startService();
const group = await service.createTenant({ tenantName: '华星集团' });
const admin = await service.createTenant({ tenantName: '苏州精工' }, group);

interface Hit {
  kind: string;
  id: string;
  name: string;
  path: string[];
  matched: string;
  code: string | null;
  phone: string | null;
  position: string | null;
}

const search = (client: Client, q: string, more = ''): Promise<Hit[]> =>
  read(client, `/system/search-api?q=${encodeURIComponent(q)}${more}`);
const namesFound = async (q: string, client: Client = admin) => (await search(client, q)).map(({ name }) => name);

const create = (deptName: string, parentId?: string) =>
  admin.createDepartment({ deptName, ...(parentId ? { parentId } : {}) });
const suzhou = await create('苏州工厂');
const wuxi = await create('无锡工厂');
const workshop = await create('装配车间', suzhou);
const otherWorkshop = await create('装配车间', wuxi);
await create('第一装配车间', wuxi);
await create('重庆办事处');
const person = await admin.createUser({
  userName: 'wjli',
  nickName: '李文杰',
  phone: '138-1234-5678',
  position: '生产经理',
  deptId: workshop,
});
await admin.createUser({ userName: 'shan', nickName: '单雄信' });
await admin.createUser({ userName: 'li.wei', nickName: '李伟', phone: '13900005678', deptId: otherWorkshop });

describe('names', () => {
  for (const [what, q] of [
    ['first letters', 'lwj'],
    ['whole syllables', 'liwenjie'],
    ['syllables and first letters', 'liwj'],
    ['the beginning of the last syllable', 'liwenji'],
    ['capital letters', 'LWJ'],
    ['characters within the name', '文杰'],
    ['pinyin from within the name', 'wenjie'],
    ['characters and pinyin', '李wj'],
    ['the user name', 'wjli'],
    ['part of the user name', 'jli'],
  ] as const) {
    test(`a user is found by ${what}`, async () => {
      assert.deepEqual(await namesFound(q), ['李文杰']);
    });
  }

  test('a hit has the fields that a list of results shows', async () => {
    assert.deepEqual(await search(admin, 'lwj'), [
      {
        ...{ kind: 'user', id: person, name: '李文杰', path: ['苏州工厂', '装配车间'], status: '0', matched: 'name' },
        ...{ code: 'wjli', phone: '138-1234-5678', position: '生产经理' },
      },
    ]);
  });

  test('characters with several readings are found by each of them', async () => {
    for (const q of ['sxx', 'shanxiongxin', 'danxiongxin', 'dxx']) assert.deepEqual(await namesFound(q), ['单雄信'], q);
    for (const q of ['cqbsc', 'chongqing', 'zhongqing', 'zq']) assert.deepEqual(await namesFound(q), ['重庆办事处'], q);
  });

  test('exact matches come before prefixes, and these before other parts', async () => {
    await create('质检');
    await create('质检一组');
    await create('华东质检');
    const names = ['质检', '质检一组', '华东质检'];
    const departments = async (q: string) => (await search(admin, q)).filter(({ kind }) => kind === 'department');
    for (const q of ['质检', 'zhijian', 'zj'])
      assert.deepEqual(
        (await departments(q)).map(({ name }) => name),
        names,
        q,
      );
    assert.deepEqual(
      (await search(admin, '质检', '&limit=1')).map(({ name }) => name),
      ['质检'],
    );
  });

  test('letters that are not pinyin, and letters in another order, find nothing', async () => {
    for (const q of ['iii', 'jwl', 'wenli', 'jieli', '杰文', 'uv']) assert.deepEqual(await namesFound(q), [], q);
  });
});

describe('several words', () => {
  test('each word matches the name or an ancestor, and one of them the name', async () => {
    const hits = await search(admin, '苏州 装配');
    assert.deepEqual(
      hits.filter(({ kind }) => kind === 'department').map(({ id, name, path }) => ({ id, name, path })),
      [{ id: workshop, name: '装配车间', path: ['苏州工厂'] }],
    );
    assert.deepEqual(await namesFound('装配 无锡'), ['装配车间', '第一装配车间']);
    assert.deepEqual(await namesFound('wx diyi'), ['第一装配车间']);
    assert.deepEqual(await namesFound('苏州 无锡'), []);
  });

  test('a department is found by an ancestor, whatever deeper departments have been compared before', async () => {
    const client = await service.createTenant();
    const first = 500_000;
    // The first department has 99 ancestors, more than a search reads; the last one has 61 of them.
    await insertDepartments(service.superuser, client.tenantId, {
      ...{ first, count: 101, parentOf: 'case n when 100 then null when 101 then 40 else n + 1 end' },
      name: "case n when 100 then '深圳' when 1 then '末端' when 101 then '末端' else '层级 ' || n end",
    });
    const found = async (q: string) => (await search(client, q)).map(({ id }) => id);
    assert.ok((await found('深圳 末端')).includes(String(first + 101)));
  });

  test('users are found by their name and the path of their department', async () => {
    assert.deepEqual(await namesFound('李'), ['李伟', '李文杰']);
    assert.deepEqual(await namesFound('无锡 李'), ['李伟']);
    assert.deepEqual(await namesFound('lwj suzhou'), ['李文杰']);
  });

  test('a name with spaces is found as a whole', async () => {
    const id = await create('研发 中心');
    assert.deepEqual(
      (await search(admin, '研发  中心')).map((hit) => hit.id),
      [id],
    );
  });
});

describe('numbers', () => {
  test('a phone number is found by four or more of its digits, however it is written', async () => {
    for (const q of ['13812345678', '138 1234 5678', '+86 138-1234-5678', '1381234', '2345']) {
      const [hit, ...more] = await search(admin, q);
      assert.deepEqual([hit?.id, hit?.matched, more], [person, 'phone', []], q);
    }
    assert.deepEqual(await namesFound('5678'), ['李伟', '李文杰']);
    assert.deepEqual(await namesFound('138'), [], 'three digits are too few');
  });

  test('an id finds its record', async () => {
    const found = async (q: string) => (await search(admin, q)).map(({ kind, id, matched }) => ({ kind, id, matched }));
    assert.deepEqual((await found(workshop)).find(({ kind }) => kind === 'department')?.id, workshop);
    assert.deepEqual(
      (await found(person)).find(({ kind }) => kind === 'user'),
      {
        ...{ kind: 'user', id: person, matched: 'id' },
      },
    );
    for (const q of ['9007199254740993', '9223372036854775807', '9999999999999999999', '0'])
      assert.deepEqual(await found(q), [], q);
  });
});

describe('tenants', () => {
  test('the caller finds their tenant and those below it, by name and by code', async () => {
    const [hit] = await search(group, 'szjg');
    assert.deepEqual([hit?.kind, hit?.code, hit?.path], ['tenant', admin.tenantId, ['华星集团']]);
    assert.deepEqual(await namesFound(admin.tenantId, group), ['苏州精工']);
    assert.deepEqual(await namesFound('华星 精工', group), ['苏州精工']);
    assert.deepEqual(await namesFound('华星集团'), [], 'a tenant above');
  });

  test('with tenantId, an administrator searches a tenant below', async () => {
    assert.equal((await search(group, 'lwj')).length, 0);
    assert.deepEqual(
      (await search(group, 'lwj', `&tenantId=${admin.tenantId}`)).map(({ name }) => name),
      ['李文杰'],
    );
    expectError(await admin.get(`/system/search-api?q=a&tenantId=${group.tenantId}`), 403, 'OTHER_TENANT');
  });
});

describe('permissions', () => {
  test('members find departments, but no users and no tenants', async () => {
    const member = await service.createMember(admin);
    const kinds = (hits: Hit[]) => [...new Set(hits.map(({ kind }) => kind))].sort();
    assert.deepEqual(kinds(await search(member, '苏州')), ['department']);
    assert.deepEqual(kinds(await search(admin, '苏州')), ['department', 'tenant']);
    assert.deepEqual(await search(member, 'lwj'), []);
    assert.deepEqual(await search(member, 'wjli'), []);
  });
});

test('pinyin followed by a digit finds the matching name among many with the same syllables and digits', async () => {
  for (const [name, queries] of [
    ['装配', ['zhuangpei0', 'zp0']],
    // The pinyin of more characters begins with y than with any other letter.
    ['采油', ['caiyou0', 'cy0']],
    // `xian` is also the pinyin of a single character.
    ['西安', ['xian0', 'xa0']],
    // `an` is a syllable too.
    ['安宁', ['anning0', 'an0']],
  ] as const) {
    const client = await service.createTenant();
    // More than the candidates that a search reads.
    const names = [...Array.from({ length: 600 }, (_, n) => `${name}${n + 1}0号`), `${name}0号`];
    const departments = names.map((deptName, n) => ({ ref: `${n}`, deptName }));
    assert.equal((await client.post(`${DEPTS}/bulk`, { departments })).code, 200);
    for (const q of queries) assert.deepEqual(await namesFound(q, client), [`${name}0号`], q);
  }
  await create('焊接 0 组');
  assert.deepEqual(await namesFound('hanjie0'), ['焊接 0 组']);
});

describe('changes', () => {
  test('a search finds what the last write stored', async () => {
    const id = await create('旧名称');
    const found = async (q: string) => (await search(admin, q)).map((hit) => hit.id);
    expectOk(await admin.put(DEPTS, { deptId: id, deptName: '新名称' }));
    assert.deepEqual([await found('旧名称'), await found('xmc')], [[], [id]]);
    expectOk(await admin.delete(`${DEPTS}/${id}`));
    assert.deepEqual(await found('新名称'), []);
    await admin.post(`${DEPTS}/${id}/restore`);
    assert.deepEqual(await found('xinmingcheng'), [id]);
    const user = await admin.createUser({ userName: 'leaver', nickName: '欧阳锋' });
    expectOk(await admin.delete(`${USERS}/${user}`));
    assert.deepEqual(await found('ouyangfeng'), []);
    const tenant = await service.createTenant({ tenantName: '北极星' }, admin);
    assert.deepEqual(await found('bjx'), [tenant.id]);
    expectOk(await admin.delete(`${TENANTS}/${tenant.id}`));
    assert.deepEqual(await found('bjx'), []);
  });
});

test('missing and invalid parameters are rejected, and special characters are accepted', async () => {
  for (const query of ['', '?q=']) expectInvalid(await admin.get(`/system/search-api${query}`), 'q', 'FIELD_REQUIRED');
  expectInvalid(await admin.get(`/system/search-api?q=${'a'.repeat(101)}`), 'q');
  expectInvalid(await admin.get('/system/search-api?q=a&limit=51'), 'limit');
  for (const q of [
    '   ',
    '%',
    '\\',
    "'",
    '🌳',
    '()',
    '-----',
    'a b c d e f g h',
    'zhuang'.repeat(16),
    'xian'.repeat(25),
  ])
    assert.deepEqual(await search(admin, q), [], q);
});
