import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept, TENANTS } from '../support/expect.ts';
import { sample } from '../support/scale.ts';
import { shareService } from '../support/service.ts';

/** Types, lengths and characters of text fields, and the size of the body. */

const service = await shareService();
const admin = await service.createTenant();

const deptId = await admin.createDepartment();

describe('Values of the wrong type', () => {
  const wrong: Record<string, unknown[]> = {
    deptName: [5, true, {}, ['名']],
    orderNum: ['1', '', 1.5, true, [1], {}, 2147483648, -2147483649, 1e30],
    leader: [5, false, {}, []],
    phone: [13800138000, {}, []],
    email: [5, {}, ['a@b']],
    status: [0, 1, true, {}],
    tenantId: [0, true, {}, []],
  };
  for (const [field, values] of Object.entries(wrong)) {
    test(`${field} of the wrong type is rejected with the name of the field`, async () => {
      for (const value of values) {
        expectInvalid(await admin.post(DEPTS, { [field]: value }), field);
        expectInvalid(await admin.put(DEPTS, { deptId, [field]: value }), field);
      }
    });
  }

  test('email must have text on both sides of a single @', async () => {
    for (const email of ['plain', '@x', 'x@', '@', 'a b@c', 'a@b c', 'a@b@c', 'a@b\n', ' a@b', 'a@b ']) {
      expectInvalid(await admin.post(DEPTS, { email }), 'email');
    }
    for (const email of ['a@b', 'first.last+tag@sub.example.com', '张三@例子.中国', "o'brien@example.ie"]) {
      assert.equal((await readDept(admin, await admin.createDepartment({ email }))).email, email);
    }
  });
});

/** Each is one code point, regardless of its bytes and UTF-16 code units. */
const CHARACTERS = ['x', '汉', '😀', 'ش', '\u0301'];

describe('Lengths are counted in characters', () => {
  const text = (character: string, length: number) => character.repeat(length);
  const email = (character: string, length: number) => `${character.repeat(length - 2)}@x`;
  const fieldsOfDepartments = [
    ['deptName', 100, text],
    ['leader', 50, text],
    ['phone', 32, text],
    ['email', 254, email],
  ] as const;
  for (const [n, [field, limit, make]] of fieldsOfDepartments.entries()) {
    test(`${field} accepts ${limit} characters and rejects one more`, async () => {
      for (const character of sample(CHARACTERS, 3, n)) {
        const [longest, tooLong] = [make(character, limit), make(character, limit + 1)];
        const deptId = await admin.createDepartment({ [field]: longest });
        assert.equal((await readDept(admin, deptId))[field], longest);
        expectOk(await admin.put(DEPTS, { deptId, [field]: longest }));
        for (const response of [
          await admin.post(DEPTS, { [field]: tooLong }),
          await admin.put(DEPTS, { deptId, [field]: tooLong }),
        ]) {
          expectInvalid(response, field);
          assert.ok(response.msg.includes(String(limit)), response.msg);
        }
      }
    });
  }

  const fieldsOfTenants = [
    ['tenantName', 100],
    ['companyName', 100],
    ['contactUserName', 50],
    ['contactPhone', 32],
  ] as const;
  for (const [n, [field, limit]] of fieldsOfTenants.entries()) {
    test(`${field} accepts ${limit} characters and rejects one more`, async () => {
      for (const character of sample(CHARACTERS, 3, n)) {
        const longest = character.repeat(limit);
        const id = await admin.create(TENANTS, { [field]: longest });
        assert.equal((await admin.get(`${TENANTS}/${id}`)).data[field], longest);
        expectInvalid(await admin.post(TENANTS, { [field]: longest + character }), field);
        expectInvalid(await admin.put(TENANTS, { id, [field]: longest + character }), field);
      }
    });
  }

  const rules = ['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'];
  // The everyday run tests one of them: contract/bad-input-limits sends all.
  for (const rule of sample(rules, rules.length)) {
    test(`ruleBo.${rule} accepts 64 Ki characters and rejects one more`, async () => {
      for (const character of ['x', '😀']) {
        const longest = character.repeat(65_536);
        const id = await admin.create(TENANTS, { ruleBo: { [rule]: longest } });
        assert.equal((await admin.get(`${TENANTS}/${id}`)).data.ruleBo[rule], longest);
        expectInvalid(await admin.post(TENANTS, { ruleBo: { [rule]: longest + character } }), `ruleBo.${rule}`);
      }
    });
  }

  test('menuIds accepts 64 Ki characters and rejects one more', async () => {
    const longest = '7'.repeat(65_536);
    const id = await admin.create(TENANTS, { packageBo: { menuIds: longest } });
    assert.equal((await admin.get(`${TENANTS}/${id}`)).data.packageBo.menuIds, longest);
    expectInvalid(await admin.post(TENANTS, { packageBo: { menuIds: `${longest}7` } }), 'packageBo.menuIds');
  });
});

describe('Size of the body', () => {
  const MiB = 1_048_576;
  const body = (bytes: number, filling: string) => {
    const [head, tail] = ['{"deptName":"大","unknown":"', '"}'];
    const room = bytes - Buffer.byteLength(head + tail);
    const filled = filling.repeat(Math.floor(room / Buffer.byteLength(filling)));
    return head + filled.padEnd(filled.length + room - Buffer.byteLength(filled), ' ') + tail;
  };
  for (const filling of sample(['x', '汉', '\\u6c49'], 3, 1)) {
    test(`a body of 1 MiB full of ${filling} is accepted, one byte more is rejected`, async () => {
      const raw = body(MiB, filling);
      assert.equal(Buffer.byteLength(raw), MiB);
      expectOk(await admin.post(DEPTS, undefined, { raw }));
      for (const call of [admin.post, admin.put]) {
        const response = await call(DEPTS, undefined, { raw: body(MiB + 1, filling) });
        expectError(response, 413, 'BODY_TOO_LARGE', { limit: MiB });
        assert.ok(response.msg.includes(String(MiB)), response.msg);
      }
    });
  }

  test('a body over 1 MiB without Content-Length is rejected', async () => {
    const headers = { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' };
    const stream = new Blob([body(MiB + 1, 'x')]).stream();
    const response = await fetch(service.base + DEPTS, { method: 'POST', headers, body: stream, duplex: 'half' });
    assert.equal(response.status, 413);
  });
});

describe('Unicode text is stored and returned unchanged', () => {
  const texts: [what: string, text: string][] = [
    ['joined and coloured emoji', '👩‍👩‍👧‍👦 👍🏽 🇨🇳'],
    ['four-byte Han characters', '𠮷野家 𪚥'],
    ['right-to-left text', 'קסם العربية \u202e abc \u202c'],
    ['combining characters', 'e\u0301 vs é, q\u0307\u0323'],
    ['a zero-width space and a byte order mark', 'a\u200bb\ufeffc'],
    ['control characters', 'tab\tline\nreturn\r\u0001\u001f\u007f\u0085\u2028\u2029'],
    ['non-characters and the last code point', '\ufffe\uffff\u{10ffff}'],
    ['the replacement character itself', '\ufffd'],
    ['leading and trailing white space', '  名  '],
    ['quotes and backslashes', `'"\\\\\`\\u0000 \${x} %s $1 :x ?`],
    ['markup', '<script>alert(1)</script>&amp;&lt;'],
    ['SQL', "'; drop table departments; --"],
    ['keywords of JavaScript', 'null undefined NaN true 0'],
  ];
  for (const [what, text] of texts) {
    test(`text with ${what} is stored, returned and found`, async () => {
      const deptId = await admin.createDepartment({ deptName: text, leader: text });
      expectOk(await admin.put(DEPTS, { deptId, deptName: text, leader: text }));
      const { deptName, leader } = await readDept(admin, deptId);
      assert.deepEqual([deptName, leader], [text, text]);
      const { data } = await admin.get(`${DEPTS}/list?deptName=${encodeURIComponent(text)}`);
      assert.ok(data.rows.some((row: { deptName: string }) => row.deptName === text));
    });
  }

  for (const field of ['deptName', 'leader', 'phone', 'email']) {
    test(`NUL in ${field} is rejected`, async () => {
      for (const text of ['\0', 'a\0b@c']) expectInvalid(await admin.post(DEPTS, { [field]: text }), field);
      expectInvalid(await admin.put(DEPTS, { deptId: await admin.createDepartment(), [field]: '\0' }), field);
    });

    test(`an unpaired surrogate in ${field} is rejected`, async () => {
      for (const half of ['\\ud800', 'a\\udc00@b', '\\udc00\\ud800', '\\ud83d😀']) {
        expectInvalid(await admin.post(DEPTS, undefined, { raw: `{"${field}":"${half}"}` }), field);
      }
    });
  }

  test('NUL in a query or path is rejected', async () => {
    expectInvalid(await admin.get(`${DEPTS}/list?deptName=%00`), 'deptName');
    expectInvalid(await admin.get(`${DEPTS}/1%00`), 'id');
  });

  test('a surrogate pair in JSON escapes is one character', async () => {
    const response = await admin.post(DEPTS, undefined, { raw: '{"deptName":"\\ud83d\\ude00"}' });
    assert.equal((await admin.get(String(response.headers.location))).data.deptName, '😀');
  });
});
