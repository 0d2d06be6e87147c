import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, runCases, watchWrites } from '../support/expect.ts';
import { assertDocumented, type Operation, readOperations, type Schema } from '../support/openapi.ts';
import { isLong, sample } from '../support/scale.ts';
import { PASSWORD, startService } from '../support/service.ts';

const service = await startService();
const admin = await service.createTenant();
const operations = await readOperations(service);
const withId = operations.filter(({ path }) => path.endsWith('{id}'));
const bodyOf = ({ method }: Operation) => (method === 'PATCH' ? {} : undefined);
const callWith = (operation: Operation, id: string) =>
  admin.call(operation.method, operation.path.replace('{id}', id), bodyOf(operation));

const expectNothingWritten = await watchWrites(service);

const invalidIds = [
  'abc',
  '-1',
  '+1',
  '1.0',
  '1e3',
  '0x1',
  '1 ',
  '%201',
  '1%00',
  '%00',
  '..%2f',
  '..%2flist',
  '1%2f2',
  '%EF%BC%91', // the digit one, full width
  '1;2',
  "1'--",
  '{id}',
  ':id',
  '*',
  'null',
  'undefined',
  '__proto__',
  '99999999999999999999',
  '1'.repeat(5000),
];
const invalidLists = [',', '1,', ',1', '1,,2', '1, 2', '1,a', '1,-2', '1,99999999999999999999'];

for (const [n, operation] of withId.entries()) {
  const { method, path, operationId } = operation;
  const several = /^delete\w+s$/.test(operationId);

  test(`${method} ${path}: an invalid id is rejected`, async () => {
    const texts = several ? [...invalidIds, ...invalidLists] : [...invalidIds, ...invalidLists, '1,2'];
    await runCases(sample(texts, 8, n), async (text) => {
      const response = await callWith(operation, text.replaceAll(' ', '%20'));
      assert.match(String(response.data.field), several ? /^ids?$/ : /^id$/, `${text}: ${response.text}`);
      expectError(response, 400, 'INVALID_FIELD', {}, text);
      assertDocumented(operation, response);
    });
    await expectNothingWritten();
  });

  test(`${method} ${path}: a missing id is rejected`, async () => {
    expectError(await callWith(operation, ''), 400, 'INVALID_FIELD');
    const without = await admin.call(method, path.replace('/{id}', ''), bodyOf(operation));
    const allowed = path.startsWith('/system') ? 'POST, PUT' : 'GET, HEAD';
    expectError(without, 405, 'METHOD_NOT_ALLOWED', { allowed });
  });

  // Session ids are not numbers.
  if (!path.startsWith('/system')) continue;
  test(`${method} ${path}: id 0 and ids beyond 2^53 and 2^63 are not found`, async () => {
    const ids = ['0', '9007199254740993', '9223372036854775807', '9223372036854775808', '9999999999999999999'];
    for (const id of sample(ids, 4, n)) {
      const response = await callWith(operation, id);
      expectError(response, 404, `${path.split(/[/-]/)[2]?.toUpperCase()}_NOT_FOUND`);
      assertDocumented(operation, response);
      // An error that repeats the id must not round it.
      if (several) assert.match(response.text, new RegExp(`\\b${id}\\b`));
    }
  });
}

test('a delete accepts 500 ids and rejects more', async () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => 1_000_000_000_000_000 + index).join(',');
  for (const path of ['/system/dept-api', '/system/user-api']) {
    assert.equal((await admin.delete(`${path}/${ids(500)}`)).code, 404);
    for (const count of [501, 10_000]) {
      expectError(await admin.delete(`${path}/${ids(count)}`), 400, 'TOO_MANY_IDS', { limit: 500 }, `${count} ids`);
    }
    // Repeated ids count once.
    assert.equal((await admin.delete(`${path}/${Array(10_000).fill(7)}`)).code, 404);
  }
});

test('a URL longer than the header limit is rejected', async () => {
  const response = await admin.delete(`/system/dept-api/${Array(200_000).fill(1)}`);
  expectError(response, 431, 'HEADERS_TOO_LARGE');
  expectError(await admin.get(`/system/dept-api/list?deptName=${'a'.repeat(300_000)}`), 431, 'HEADERS_TOO_LARGE');
});

// The bodies are valid: if body and query were both invalid, the error would name a field of the body.
const bodies: Record<string, unknown> = {
  POST: {
    userName: 'x',
    password: PASSWORD,
    tenantId: '999999',
    username: 'x',
    refresh_token: 'x',
    ids: [7],
    quota: 'merchant',
    seconds: 1,
    departments: [{ ref: 'x' }],
    users: [{ ref: 'x', userName: 'x', password: PASSWORD }],
  },
  PUT: { userId: 7, deptId: 7, parentId: 0, deptIds: [7] },
  PATCH: {},
};

/** Parameters that a test covers. The everyday run sends each one to the first operation that has it. */
const covered = new Set<string>();

for (const operation of operations) {
  const { method, path, parameters = [] } = operation;
  for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'query')) {
    const parameter = `${name} ${JSON.stringify(schema)}`;
    if (!isLong && covered.has(parameter)) continue;
    const n = covered.add(parameter).size;
    test(`${method} ${path}: an invalid ${name} in the query is rejected with its name`, async () => {
      const others = parameters.filter((one) => one.in === 'query' && one.required && one.name !== name);
      const needed = others.map((one) => `&${one.name}=${one.schema.enum?.[0] ?? '2026-01-01'}`).join('');
      const isForm = operation.requestBody?.content['multipart/form-data'] !== undefined;
      const form = { 'content-type': 'multipart/form-data; boundary=x' };
      const call = (query: string, headers = {}) =>
        admin.call(
          method,
          `${path.replace('{id}', '7').replace('{quota}', 'calls')}?${query}${needed}`,
          bodies[method],
          {
            headers: isForm ? { ...form, ...headers } : headers,
            ...(isForm ? { raw: '--x--\r\n' } : {}),
          },
        );
      for (const text of wrongTexts(schema)) {
        const response = await call(`${name}=${text}`);
        expectError(response, 400, 'INVALID_FIELD', { field: name }, `${name}=${text.slice(0, 60)}`);
        assertDocumented(operation, response);
      }
      const repeated = [`${name}=0&${name}=1`, `${name}=&${name}=`, `${name}=a%00b&${name}=1&${name}=2`];
      for (const twice of sample(repeated, 3, n)) {
        const response = await call(twice);
        expectError(response, 400, 'INVALID_FIELD', { field: name, problem: '重复传递，请只传一次' }, twice);
        assertDocumented(operation, response);
        const english = await call(twice, { 'accept-language': 'en' });
        assert.equal(english.msg, `${name} must be sent only once.`);
      }
      await expectNothingWritten();
    });
  }
}

function wrongTexts({ type, maxLength, pattern, enum: values, minimum, maximum, format }: Schema): string[] {
  const texts = ['%00', 'a%00b'];
  if (maxLength !== undefined) texts.push('a'.repeat(maxLength + 1));
  if (pattern || values || type !== 'string') texts.push('non%20sense', '%F0%9F%8C%B3');
  if (format === 'int64') texts.push('-1', '1.5', '9223372036854775808', '99999999999999999999', '%201');
  if (type === 'integer') texts.push('1.5', '1e400', 'NaN', String((minimum ?? 0) - 1), String((maximum ?? 0) + 1));
  if (type === 'boolean') texts.push('2', 'yes', 'TRUE');
  return texts;
}

test('filters, pageNum and pageSize without a value are ignored', async () => {
  const id = await admin.createDepartment();
  for (const query of ['deptName=&status=&parentId=&pageNum=&pageSize=', '&&=&', '']) {
    const { code, data } = await admin.get(`/system/dept-api/list?${query}`);
    assert.equal(code, 200, query);
    assert.equal(data.rows[0].deptId, Number(id));
  }
});

test('a path or query that is not valid percent-encoded UTF-8 is rejected', async () => {
  for (const path of [
    '/',
    '/system/dept-api/',
    '/system/dept-api/1',
    '/no/such/path',
    '/system/dept-api/list?deptName=',
  ]) {
    for (const text of ['%ff', '%', '%zz', 'a%c3', '%ed%a0%80', '%c0%af']) {
      expectError(await admin.get(`${path}${text}`), 400, 'INVALID_UTF8', {}, `${path}${text}`);
    }
  }
});
