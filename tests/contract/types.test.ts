import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { asTenant, type Client, PASSWORD, type Service, startService } from '../support/service.ts';

/** Types and limits: numbers, ids in paths, times, null, unknown fields. */

const [service, newYork] = await Promise.all([startService(), startService({ BANYAN_TIME_ZONE: 'America/New_York' })]);
const boss = await service.createTenant();

/** Sends JSON as it is written here: JavaScript would round some of these numbers itself. */
const createRaw = (raw: string) => boss.post(DEPTS, undefined, { raw });
const updateRaw = (raw: string) => boss.put(DEPTS, undefined, { raw });

describe('Long in a request: a number or a string of digits', async () => {
  const parent = await boss.createDepartment();
  for (const sent of [parent, `"${parent}"`, `"000${parent}"`, `${parent}.0`, `${parent}e0`]) {
    test(`accepted: ${sent.replace(parent, '100')}`, async () => {
      expectOk(await createRaw(`{"parentId":${sent}}`));
      expectOk(await updateRaw(`{"deptId":${sent},"deptName":${JSON.stringify(sent)}}`));
      assert.equal((await readDept(boss, parent)).deptName, sent);
    });
  }

  const refused: [name: string, sent: string[]][] = [
    ['a number that JSON parsing would round (above 2^53−1)', ['9007199254740992', '9007199254740993', '1e400']],
    ['2^63 and beyond', ['9223372036854775808', '"9223372036854775808"', '"12345678901234567890"', '1e30']],
    ['a fraction', ['1.5', '0.1', '100.25', '"1.0"']],
    ['a negative', ['-1', '-9007199254740993', '"-1"', '-0.5']],
    ['neither a number nor digits', ['""', '"abc"', '" 1"', '"1 "', '"1e3"', '"0x10"', '"１"', 'true', '[1]', '{}']],
  ];
  for (const [name, values] of refused) {
    test(`${name}: 400`, async () => {
      for (const sent of values) {
        expectInvalid(await createRaw(`{"parentId":${sent}}`), 'parentId');
        expectInvalid(await updateRaw(`{"deptId":${parent},"parentId":${sent}}`), 'parentId');
        expectInvalid(await updateRaw(`{"deptId":${sent}}`), 'deptId');
      }
    });
  }

  test('digits above 2^53−1 are not rounded: 2^53+1 as text, up to 2^63−1', async () => {
    for (const digits of ['9007199254740993', '9223372036854775807']) {
      const answer = await createRaw(`{"parentId":"${digits}"}`);
      expectError(answer, 400, 'PARENT_NOT_FOUND', { parentId: digits });
      expectError(await updateRaw(`{"deptId":"${digits}"}`), 404, 'DEPT_NOT_FOUND');
    }
  });

  test('2^53−1 is accepted as a Long', async () => {
    const [largest, next] = ['9007199254740991', '9007199254740990'];
    await asTenant(service.owner, boss.tenantId, async (tx) => {
      for (const id of [largest, next]) {
        await tx`insert into departments (tenant_id, dept_id, create_by) values (${boss.tenantId}, ${id}, 'test')`;
      }
    });
    expectOk(await updateRaw(`{"deptId":${largest},"parentId":${next}}`));
    const { text } = await boss.get(`${DEPTS}/${largest}`);
    assert.match(text, /"deptId":9007199254740991,"parentId":9007199254740990,"ancestors":"0,9007199254740990"/);
  });
});

test('Long in a response: a JSON number, at most 2^53−1', async () => {
  const child = await boss.createDepartment({ parentId: await boss.createDepartment() });
  const { text } = await boss.get(`${DEPTS}/${child}`);
  assert.match(text, /"deptId":[1-9]\d{0,15},/);
  assert.match(text, /"parentId":[1-9]\d{0,15},/);
  const [sequence] = await service.superuser`
    select max_value::text as max from pg_sequences where sequencename = 'dept_serial'`;
  assert.equal(sequence?.max, '9007199254740991');
});

describe('Long in a path: digits only, up to 19; anything else 400', () => {
  const refused = ['abc', '1a', '-1', '+1', '1.0', '1e3', '0x1', ' 1', '1 ', '１', 'null', '12345678901234567890'];
  for (const id of [...refused, '00000000000000000001', "1'--", '1 or 1=1', '1\0', '١']) {
    test(`400: ${JSON.stringify(id)}`, async () => {
      const path = `${DEPTS}/${encodeURIComponent(id)}`;
      for (const answer of [await boss.get(path), await boss.delete(path)]) {
        assert.deepEqual([answer.status, answer.code], [400, 400], answer.text);
        assert.equal(answer.data.reason, 'INVALID_FIELD');
      }
    });
  }

  test('one id is read at a time: 1,2 is 400', async () => expectInvalid(await boss.get(`${DEPTS}/1,2`), 'id'));

  for (const id of ['0', '999999999', '9007199254740993', '9223372036854775807', '9223372036854775808']) {
    test(`404: ${id}`, async () => {
      expectError(await boss.get(`${DEPTS}/${id}`), 404, 'DEPT_NOT_FOUND');
      const deptIds = [Number.isSafeInteger(Number(id)) ? Number(id) : id];
      expectError(await boss.delete(`${DEPTS}/${id}`), 404, 'DEPT_NOT_FOUND', { deptIds });
    });
  }

  test('404: 19 digits beyond 2^63', async () => {
    expectError(await boss.get(`${DEPTS}/9999999999999999999`), 404, 'DEPT_NOT_FOUND');
    expectError(await boss.delete(`${DEPTS}/9999999999999999999,1`), 404, 'DEPT_NOT_FOUND');
  });

  test('leading zeros are digits', async () => {
    const id = await boss.createDepartment();
    assert.equal((await readDept(boss, id.padStart(19, '0'))).deptId, Number(id));
  });
});

describe('Times: YYYY-MM-DD HH:MM:SS in one configured time zone', () => {
  const instants: [instant: string, shanghai: string, newYork: string][] = [
    ['2026-01-31T18:30:05.999Z', '2026-02-01 02:30:05', '2026-01-31 13:30:05'],
    ['2026-07-01T03:59:59Z', '2026-07-01 11:59:59', '2026-06-30 23:59:59'],
    ['2024-12-31T16:00:00Z', '2025-01-01 00:00:00', '2024-12-31 11:00:00'],
  ];
  const shownIn = async ({ root, owner }: Service, instant: string) => {
    const id = await root.createDepartment();
    await asTenant(owner, '000000', async (tx) => {
      await tx`update departments set create_time = ${instant}, update_time = ${instant} where dept_id = ${id}`;
    });
    const { createTime, updateTime } = await readDept(root, id);
    assert.equal(updateTime, createTime);
    const { rows } = (await root.get(`${DEPTS}/list?pageSize=500`)).data;
    assert.equal(rows.find((row: { deptId: number }) => row.deptId === Number(id)).createTime, createTime);
    return createTime;
  };
  for (const [instant, here, there] of instants) {
    test(`${instant}: by default (Asia/Shanghai) ${here}`, async () => {
      assert.equal(await shownIn(service, instant), here);
    });
    test(`${instant}: in America/New_York ${there}`, async () => {
      assert.equal(await shownIn(newYork, instant), there);
    });
  }

  for (const [zone, { root }] of [
    ['Asia/Shanghai', service],
    ['America/New_York', newYork],
  ] as const) {
    test(`of a department made and updated now, in ${zone}`, async () => {
      const now = () => new Date().toLocaleString('sv-SE', { timeZone: zone });
      const began = now();
      const deptId = await root.createDepartment();
      expectOk(await root.put(DEPTS, { deptId }));
      const { createTime, updateTime } = await readDept(root, deptId);
      const times = [began, createTime, updateTime, now()];
      assert.deepEqual(times, [...times].sort());
    });
  }
});

describe('null counts as not sent, for every field', () => {
  const fields = ['deptId', 'parentId', 'ancestors', 'deptName', 'orderNum', 'leader', 'phone', 'email', 'status'];
  const all = [...fields, 'delFlag', 'tenantId', 'createBy', 'createTime', 'updateBy', 'updateTime', 'unknown'];
  const nulls = Object.fromEntries(all.map((field) => [field, null]));
  const shown = async (id: string) => {
    const { deptId, createTime, updateTime, ...rest } = await readDept(boss, id);
    return rest;
  };

  test('on create', async () => {
    assert.deepEqual(await shown(await boss.createDepartment(nulls)), await shown(await boss.createDepartment({})));
  });

  test('on update', async () => {
    const parentId = await boss.createDepartment();
    const full = { parentId, deptName: '名', orderNum: 1, leader: '人', phone: '1', email: 'a@b', status: '1' };
    const [one, two] = [await boss.createDepartment(full), await boss.createDepartment(full)];
    expectOk(await boss.put(DEPTS, { ...nulls, deptId: one }));
    expectOk(await boss.put(DEPTS, { deptId: two }));
    assert.deepEqual(await shown(one), await shown(two));
  });

  const login = { tenantId: '000000', username: 'admin', password: PASSWORD };
  const required: [what: string, field: string, call: (sent: object) => ReturnType<Client['put']>][] = [
    ['department update', 'deptId', (sent) => boss.put(DEPTS, { deptName: '无', ...sent })],
    ['tenant update', 'id', (sent) => boss.put('/system/tenant-api', { tenantName: '无', ...sent })],
    ['user update', 'userId', (sent) => boss.put('/system/user-api', { nickName: '无', ...sent })],
    ['user create', 'userName', (sent) => boss.post('/system/user-api', { password: PASSWORD, ...sent })],
    ['login', 'tenantId', (sent) => boss.post('/auth/login', { ...login, tenantId: undefined, ...sent })],
  ];
  for (const [what, field, call] of required) {
    test(`${field} of a ${what}: required, null or not sent`, async () => {
      const absent = await call({});
      expectInvalid(absent, field, 'FIELD_REQUIRED');
      assert.equal((await call({ [field]: null })).text, absent.text);
    });
  }
});

describe('Unknown fields: ignored', () => {
  test('on create and on update, of whatever type', async () => {
    const strange = {
      a: 1,
      b: [{}],
      searchValue: 'x',
      params: { dataScope: 'or 1=1' },
      toString: 5,
      constructor: null,
    };
    const deptId = await boss.createDepartment({ deptName: '名', children: [{ deptName: '子' }], ...strange });
    expectOk(await boss.put(DEPTS, { deptId, deptName: '名', ...strange }));
    assert.equal((await readDept(boss, deptId)).deptName, '名');
    assert.equal((await boss.get(`${DEPTS}/list?parentId=${deptId}`)).data.total, 0);
  });

  test('however deep', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expectOk(await createRaw(`{"deptName":"名","unknown":${deep}}`));
  });

  test('keys that would reach into JavaScript are refused by name, not called broken JSON', async () => {
    for (const raw of ['{"__proto__":{"status":"1"}}', '{"constructor":{"prototype":{"status":"1"}}}']) {
      expectError(await createRaw(raw), 400, 'FORBIDDEN_KEY');
    }
  });
});
