import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { asTenant, type Client, PASSWORD, type Service, startService } from '../support/service.ts';

/** Numbers, ids in paths, times, null and unknown fields. */

const [service, newYork] = await Promise.all([startService(), startService({ BANYAN_TIME_ZONE: 'America/New_York' })]);
const admin = await service.createTenant();

// Send raw JSON: JavaScript would round some of these numbers itself.
const createRaw = (raw: string) => admin.post(DEPTS, undefined, { raw });
const updateRaw = (raw: string) => admin.put(DEPTS, undefined, { raw });

const parent = await admin.createDepartment();

describe('A Long in a request is a number or a string of digits', () => {
  for (const sent of [parent, `"${parent}"`, `"000${parent}"`, `${parent}.0`, `${parent}e0`]) {
    test(`a Long written as ${sent.replace(parent, '100')} is accepted`, async () => {
      expectOk(await createRaw(`{"parentId":${sent}}`));
      expectOk(await updateRaw(`{"deptId":${sent},"deptName":${JSON.stringify(sent)}}`));
      assert.equal((await readDept(admin, parent)).deptName, sent);
    });
  }

  const rejected: [name: string, sent: string[]][] = [
    ['a number that JSON parsing would round (above 2^53−1)', ['9007199254740992', '9007199254740993', '1e400']],
    ['a number of 2^63 or more', ['9223372036854775808', '"9223372036854775808"', '"12345678901234567890"', '1e30']],
    ['a fraction', ['1.5', '0.1', '100.25', '"1.0"']],
    ['a negative number', ['-1', '-9007199254740993', '"-1"', '-0.5']],
    [
      'a value that is neither a number nor digits',
      ['""', '"abc"', '" 1"', '"1 "', '"1e3"', '"0x10"', '"１"', 'true', '[1]', '{}'],
    ],
  ];
  for (const [name, values] of rejected) {
    test(`${name} is rejected as a Long`, async () => {
      for (const sent of values) {
        expectInvalid(await createRaw(`{"parentId":${sent}}`), 'parentId');
        expectInvalid(await updateRaw(`{"deptId":${parent},"parentId":${sent}}`), 'parentId');
        expectInvalid(await updateRaw(`{"deptId":${sent}}`), 'deptId');
      }
    });
  }

  test('a string of digits above 2^53−1 is not rounded', async () => {
    for (const digits of ['9007199254740993', '9223372036854775807']) {
      const response = await createRaw(`{"parentId":"${digits}"}`);
      expectError(response, 400, 'PARENT_NOT_FOUND', { parentId: digits });
      expectError(await updateRaw(`{"deptId":"${digits}"}`), 404, 'DEPT_NOT_FOUND');
    }
  });

  test('2^53−1 is accepted as a Long', async () => {
    const [largest, next] = ['9007199254740991', '9007199254740990'];
    await asTenant(service.owner, admin.tenantId, async (tx) => {
      for (const id of [largest, next]) {
        await tx`insert into departments (tenant_id, dept_id, create_by) values (${admin.tenantId}, ${id}, 'test')`;
      }
    });
    expectOk(await updateRaw(`{"deptId":${largest},"parentId":${next}}`));
    const { text } = await admin.get(`${DEPTS}/${largest}`);
    assert.match(text, /"deptId":9007199254740991,"parentId":9007199254740990,"ancestors":"0,9007199254740990"/);
  });
});

test('a Long in a response is a JSON number of at most 2^53−1', async () => {
  const child = await admin.createDepartment({ parentId: await admin.createDepartment() });
  const { text } = await admin.get(`${DEPTS}/${child}`);
  assert.match(text, /"deptId":[1-9]\d{0,15},/);
  assert.match(text, /"parentId":[1-9]\d{0,15},/);
  const [sequence] = await service.superuser`
    select max_value::text as max from pg_sequences where sequencename = 'dept_serial'`;
  assert.equal(sequence?.max, '9007199254740991');
});

describe('An id in a path has up to 19 digits', () => {
  const rejected = ['abc', '1a', '-1', '+1', '1.0', '1e3', '0x1', ' 1', '1 ', '１', 'null', '12345678901234567890'];
  for (const id of [...rejected, '00000000000000000001', "1'--", '1 or 1=1', '1\0', '١']) {
    test(`the id ${JSON.stringify(id)} is rejected`, async () => {
      const path = `${DEPTS}/${encodeURIComponent(id)}`;
      for (const response of [await admin.get(path), await admin.delete(path)]) {
        assert.deepEqual([response.status, response.code], [400, 400], response.text);
        assert.equal(response.data.reason, 'INVALID_FIELD');
      }
    });
  }

  test('a read with two ids is rejected', async () => expectInvalid(await admin.get(`${DEPTS}/1,2`), 'id'));

  for (const id of ['0', '999999999', '9007199254740993', '9223372036854775807', '9223372036854775808']) {
    test(`the id ${id} is not found`, async () => {
      expectError(await admin.get(`${DEPTS}/${id}`), 404, 'DEPT_NOT_FOUND');
      const deptIds = [Number.isSafeInteger(Number(id)) ? Number(id) : id];
      expectError(await admin.delete(`${DEPTS}/${id}`), 404, 'DEPT_NOT_FOUND', { deptIds });
    });
  }

  test('an id of 19 digits above 2^63 is not found', async () => {
    expectError(await admin.get(`${DEPTS}/9999999999999999999`), 404, 'DEPT_NOT_FOUND');
    expectError(await admin.delete(`${DEPTS}/9999999999999999999,1`), 404, 'DEPT_NOT_FOUND');
  });

  test('an id may have leading zeros', async () => {
    const id = await admin.createDepartment();
    assert.equal((await readDept(admin, id.padStart(19, '0'))).deptId, Number(id));
  });
});

describe('Times are YYYY-MM-DD HH:MM:SS in the configured time zone', () => {
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
    test(`${instant} is shown as ${here} in the default zone Asia/Shanghai`, async () => {
      assert.equal(await shownIn(service, instant), here);
    });
    test(`${instant} is shown as ${there} in America/New_York`, async () => {
      assert.equal(await shownIn(newYork, instant), there);
    });
  }

  for (const [zone, { root, superuser }] of [
    ['Asia/Shanghai', service],
    ['America/New_York', newYork],
  ] as const) {
    test(`the times of a department created and updated now are current in ${zone}`, async () => {
      // Compare instants: local times go backwards when daylight saving time ends.
      const now = async () => (await superuser`select clock_timestamp()::text as now`)[0]?.now;
      const began = await now();
      const deptId = await root.createDepartment();
      const created = await now();
      expectOk(await root.put(DEPTS, { deptId }));
      const updated = await now();
      const [stored] = await superuser`
        select create_time between ${began} and ${created} and update_time between ${created} and ${updated} as current,
          to_char(create_time at time zone ${zone}, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
          to_char(update_time at time zone ${zone}, 'YYYY-MM-DD HH24:MI:SS') as "updateTime"
        from departments where tenant_id = '000000' and dept_id = ${deptId}`;
      const { createTime, updateTime } = await readDept(root, deptId);
      assert.deepEqual({ ...stored }, { current: true, createTime, updateTime });
    });
  }
});

describe('null counts as missing for every field that it does not erase', () => {
  const fields = ['deptId', 'parentId', 'ancestors', 'deptName', 'orderNum', 'leader', 'phone', 'email', 'status'];
  const all = [...fields, 'delFlag', 'tenantId', 'createBy', 'createTime', 'updateBy', 'updateTime', 'unknown'];
  const nulls = Object.fromEntries(all.map((field) => [field, null]));
  const shown = async (id: string) => {
    const { deptId, createTime, updateTime, ...rest } = await readDept(admin, id);
    return rest;
  };

  test('nulls on create give the same department as an empty body', async () => {
    assert.deepEqual(await shown(await admin.createDepartment(nulls)), await shown(await admin.createDepartment({})));
  });

  test('nulls on update give the same department as missing fields', async () => {
    const parentId = await admin.createDepartment();
    const full = { parentId, deptName: '名', orderNum: 1, leader: '人', phone: '1', email: 'a@b', status: '1' };
    const [one, two] = [await admin.createDepartment(full), await admin.createDepartment(full)];
    expectOk(await admin.put(DEPTS, { ...nulls, deptId: one }));
    expectOk(await admin.put(DEPTS, { deptId: two }));
    assert.deepEqual(await shown(one), await shown(two));
  });

  const login = { tenantId: '000000', username: 'admin', password: PASSWORD };
  const required: [what: string, field: string, call: (sent: object) => ReturnType<Client['put']>][] = [
    ['department update', 'deptId', (sent) => admin.put(DEPTS, { deptName: '无', ...sent })],
    ['tenant update', 'id', (sent) => admin.put('/system/tenant-api', { tenantName: '无', ...sent })],
    ['user update', 'userId', (sent) => admin.put('/system/user-api', { nickName: '无', ...sent })],
    ['user create', 'userName', (sent) => admin.post('/system/user-api', { password: PASSWORD, ...sent })],
    ['login', 'tenantId', (sent) => admin.post('/auth/login', { ...login, tenantId: undefined, ...sent })],
  ];
  for (const [what, field, call] of required) {
    test(`${field} of a ${what} is required, and null counts as missing`, async () => {
      const absent = await call({});
      expectInvalid(absent, field, 'FIELD_REQUIRED');
      assert.equal((await call({ [field]: null })).text, absent.text);
    });
  }
});

describe('Unknown fields are ignored', () => {
  test('unknown fields of any type are ignored on create and on update', async () => {
    const unknown = {
      a: 1,
      b: [{}],
      searchValue: 'x',
      params: { dataScope: 'or 1=1' },
      toString: 5,
      constructor: null,
    };
    const deptId = await admin.createDepartment({ deptName: '名', children: [{ deptName: '子' }], ...unknown });
    expectOk(await admin.put(DEPTS, { deptId, deptName: '名', ...unknown }));
    assert.equal((await readDept(admin, deptId)).deptName, '名');
    assert.equal((await admin.get(`${DEPTS}/list?parentId=${deptId}`)).data.total, 0);
  });

  test('an unknown field nested 200,000 levels deep is ignored', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expectOk(await createRaw(`{"deptName":"名","unknown":${deep}}`));
  });

  test('keys that could pollute a prototype are rejected with FORBIDDEN_KEY', async () => {
    for (const raw of ['{"__proto__":{"status":"1"}}', '{"constructor":{"prototype":{"status":"1"}}}']) {
      expectError(await createRaw(raw), 400, 'FORBIDDEN_KEY');
    }
  });
});
