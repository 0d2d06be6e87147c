import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { expectError, runCases, storedState } from '../support/expect.ts';
import { assertDocumented, type Operation, readOperations } from '../support/openapi.ts';
import { sample } from '../support/scale.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const admin = await service.createTenant();
const operations = await readOperations(service);
const withBody = operations.filter(({ body }) => body);
const MiB = 1_048_576;
const BULK = '/system/dept-api/bulk';

interface Sent {
  raw?: string | Buffer;
  headers?: Record<string, string>;
}
interface ExpectedError {
  status: number;
  reason: string;
  fields?: Record<string, unknown>;
  /** Selects the operations to call. */
  where?: (operation: Operation) => boolean;
}

/** Sends each case to every operation with a body. All must return the same documented error and write nothing. */
async function expectRejectedByAll(
  cases: readonly (readonly [what: string, sent: Sent])[],
  { status, reason, fields = {}, where = () => true }: ExpectedError,
) {
  const before = await storedState(service);
  // In the everyday run, each operation gets one of the cases.
  const calls = cases.flatMap(([what, sent], n) =>
    sample(withBody.filter(where), cases.length, n).map((operation) => ({
      what,
      sent,
      operation,
      name: `${operation.method} ${operation.path}`,
    })),
  );
  await runCases(calls, async ({ what, sent, operation, name }) => {
    const path = operation.path.replace('{quota}', 'calls');
    const response = await admin.call(operation.method, path, undefined, sent);
    expectError(response, status, reason, fields, `${what} to ${name}`);
    assertDocumented(operation, response);
  });
  assert.deepEqual(await storedState(service), before);
}

const brokenJson: [what: string, raw: string | Buffer][] = [
  ['an open brace', '{'],
  ['a single space', ' '],
  ['single quotes', "{'deptName':'a'}"],
  ['a trailing comma', '{"deptName":"a",}'],
  ['NaN', '{"orderNum":NaN}'],
  ['a comment', '{} // that is all'],
  ['two objects', '{}{}'],
  ['a raw NUL', '{"deptName":"a\0b"}'],
  ['a raw line break in a string', '{"deptName":"a\nb"}'],
  ['a form', 'deptName=a&orderNum=1'],
  ['XML', '<dept/>'],
  ['UTF-16', Buffer.from('{"deptName":"a"}', 'utf16le')],
];
test('a body that is not JSON is rejected', () =>
  expectRejectedByAll(
    brokenJson.map(([what, raw]) => [what, { raw }]),
    { status: 400, reason: 'INVALID_JSON' },
  ));

test('200,000 unclosed brackets or braces are rejected as invalid JSON', async () => {
  for (const raw of ['['.repeat(200_000), '{"a":'.repeat(200_000)]) {
    for (const path of ['/system/dept-api', BULK]) {
      expectError(
        await admin.post(path, undefined, { raw }),
        400,
        'INVALID_JSON',
        {},
        `${raw.slice(0, 10)} to ${path}`,
      );
    }
  }
});

const brokenText: [what: string, bytes: number[]][] = [
  ['a byte that never occurs in UTF-8', [0xff]],
  ['a truncated character', [0xe9, 0x83]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['half a surrogate pair', [0xed, 0xa0, 0x80]],
  ['GBK', [0xb2, 0xbf]],
];
test('a body that is not UTF-8 is rejected', () =>
  expectRejectedByAll(
    brokenText.map(([what, bytes]) => {
      const raw = Buffer.concat([Buffer.from('{"deptName":"'), Buffer.from(bytes), Buffer.from('"}')]);
      return [what, { raw }];
    }),
    { status: 400, reason: 'INVALID_UTF8' },
  ));

test('a body with a key that could pollute a prototype is rejected', () =>
  expectRejectedByAll(
    ['{"__proto__":{"a":1}}', '{"a":{"__proto__":1}}', '{"constructor":{"prototype":{"a":1}}}'].map((raw) => [
      raw,
      { raw },
    ]),
    { status: 400, reason: 'FORBIDDEN_KEY' },
  ));

test('a body that is not a JSON object is rejected', () =>
  expectRejectedByAll(
    ['[]', '[{}]', '"text"', '7', 'true'].map((raw) => [raw, { raw }]),
    { status: 400, reason: 'INVALID_FIELD', fields: { field: 'body' } },
  ));

test('a value nested 200,000 levels deep is rejected as an invalid field', async () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const send = (raw: string) => admin.post('/system/dept-api', undefined, { raw });
  expectError(await send(deep), 400, 'INVALID_FIELD', { field: 'body' });
  expectError(await send(`{"deptName":${deep}}`), 400, 'INVALID_FIELD', { field: 'deptName' });
});

test('a missing or empty body is rejected with BODY_REQUIRED', async () => {
  // The body of these is optional.
  const where = ({ operationId }: Operation) =>
    !['restoreDepartment', 'rotateKey', 'confirmReservation', 'releaseReservation'].includes(operationId);
  const cases = [
    ['no body', {}],
    ['an empty body', { raw: '' }],
  ] as const;
  await expectRejectedByAll(cases, { status: 400, reason: 'BODY_REQUIRED', where });
});

const otherTypes = [
  'text/plain',
  'text/json',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'application/jsonx',
  'application/problem+json',
  'json',
  'application/json, text/plain',
  '',
];
test('a body with a content type other than application/json is rejected', () =>
  expectRejectedByAll(
    otherTypes.map((type) => [`type "${type}"`, { raw: '{}', headers: { 'content-type': type } }]),
    { status: 415, reason: 'NOT_JSON' },
  ));

test('a compressed body is rejected', () =>
  expectRejectedByAll([['gzip', { raw: gzipSync('{}'), headers: { 'content-encoding': 'gzip' } }]], {
    status: 415,
    reason: 'NOT_JSON',
  }));

test('a body of 1 MiB is accepted, one byte more is rejected', async () => {
  const padded = (size: number) => `{"deptName":"padded"${' '.repeat(size - 21)}}`;
  assert.equal(Buffer.byteLength(padded(MiB)), MiB);
  assert.equal((await admin.post('/system/dept-api', undefined, { raw: padded(MiB) })).code, 200);
  const error = { status: 413, reason: 'BODY_TOO_LARGE', fields: { limit: MiB } };
  const where = ({ path }: Operation) => !path.endsWith('/bulk');
  await expectRejectedByAll([['1 MiB plus one byte', { raw: padded(MiB + 1) }]], { ...error, where });
});

test('a bulk body of 8 MiB is accepted, one byte more is rejected', async () => {
  const padded = (size: number) => `{"departments":[{"ref":"padded"}]${' '.repeat(size - 34)}}`;
  assert.equal(Buffer.byteLength(padded(8 * MiB)), 8 * MiB);
  assert.equal((await admin.post(BULK, undefined, { raw: padded(8 * MiB) })).code, 200);
  const error = { status: 413, reason: 'BODY_TOO_LARGE', fields: { limit: 8 * MiB } };
  const where = ({ path }: Operation) => path.endsWith('/bulk');
  await expectRejectedByAll([['8 MiB plus one byte', { raw: padded(8 * MiB + 1) }]], { ...error, where });
});

test('unusual but valid JSON is accepted', async () => {
  const forms: [raw: string | Buffer, type: string][] = [
    ['{"deptName":"部门"}', 'application/json; charset=utf-8'],
    ['{"deptName":"部门"}', 'APPLICATION/JSON;CHARSET=UTF-8'],
    ['{"deptName":"\\u90e8\\u95e8"}', 'application/json'],
    ['\ufeff{"deptName":"部门"}', 'application/json'],
    ['\r\n\t {"deptName" : "部门" }\n', 'application/json'],
    ['{"deptName":"first","deptName":"部门"}', 'application/json'],
    [`{"deptName":"部门","unknown":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`, 'application/json'],
    ['{"deptName":"部门","orderNum":0.0,"parentId":-0,"constructor":1,"toString":null}', 'application/json'],
  ];
  for (const [raw, type] of forms) {
    const response = await admin.post('/system/dept-api', undefined, { raw, headers: { 'content-type': type } });
    assert.equal(response.code, 200, `${raw.slice(0, 60)}: ${response.text}`);
    assert.equal((await admin.get(String(response.headers.location))).data.deptName, '部门');
  }
});

test('a content type without a body is accepted by operations that take no body', async () => {
  const headers = { 'content-type': 'application/json;charset=utf-8' };
  const [id, another] = [await admin.createDepartment(), await admin.createDepartment()];
  assert.equal((await admin.get(`/system/dept-api/${id}`, { headers })).code, 200);
  assert.equal((await admin.delete(`/system/dept-api/${id}`, { headers })).code, 200);
  assert.equal((await admin.delete(`/system/dept-api/${another}`, { headers, raw: '' })).code, 200);
  const user = await service.logIn(admin.tenantId, 'boss');
  assert.equal((await user.post('/auth/logout', undefined, { headers, raw: '' })).code, 200);
});
