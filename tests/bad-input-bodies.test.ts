import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertDocumented, type Operation, readOperations } from './document.ts';
import { startService } from './harness.ts';
import { assertRefused, storedState } from './refused.ts';

const service = await startService();
const boss = await service.tenant();
const operations = await readOperations(service);
const withBody = operations.filter(({ body }) => body);
const MiB = 1_048_576;
const BULK = '/system/dept-api/bulk';

/** Sends the same to every operation that takes a body; each must refuse it alike, as it documents, and write nothing. */
async function refusedEverywhere(
  sent: { raw?: string | Buffer; headers?: Record<string, string> },
  status: number,
  reason: string,
  facts: Record<string, unknown> = {},
  where: (operation: Operation) => boolean = () => true,
) {
  const before = await storedState(service);
  for (const operation of withBody.filter(where)) {
    const answer = await boss.call(operation.method, operation.path, undefined, sent);
    assertRefused(answer, status, reason, facts, `${operation.method} ${operation.path}`);
    assertDocumented(operation, answer);
  }
  assert.deepEqual(await storedState(service), before);
}

const brokenJson: [what: string, raw: string | Buffer][] = [
  ['an open brace', '{'],
  ['nothing but a space', ' '],
  ['single quotes', "{'deptName':'a'}"],
  ['a comma too many', '{"deptName":"a",}'],
  ['NaN', '{"orderNum":NaN}'],
  ['a comment', '{} // that is all'],
  ['two objects', '{}{}'],
  ['a raw NUL', '{"deptName":"a\0b"}'],
  ['a raw line break in a text', '{"deptName":"a\nb"}'],
  ['a form', 'deptName=a&orderNum=1'],
  ['XML', '<dept/>'],
  ['UTF-16', Buffer.from('{"deptName":"a"}', 'utf16le')],
  ['200,000 open brackets', '['.repeat(200_000)],
  ['200,000 open braces', '{"a":'.repeat(200_000)],
];
for (const [what, raw] of brokenJson) {
  test(`not JSON: ${what}`, () => refusedEverywhere({ raw }, 400, 'INVALID_JSON'));
}

const brokenText: [what: string, bytes: number[]][] = [
  ['a byte that no character has', [0xff]],
  ['a cut character', [0xe9, 0x83]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['half a surrogate pair', [0xed, 0xa0, 0x80]],
  ['GBK', [0xb2, 0xbf]],
];
for (const [what, bytes] of brokenText) {
  const raw = Buffer.concat([Buffer.from('{"deptName":"'), Buffer.from(bytes), Buffer.from('"}')]);
  test(`not UTF-8: ${what}`, () => refusedEverywhere({ raw }, 400, 'INVALID_UTF8'));
}

for (const raw of ['{"__proto__":{"a":1}}', '{"a":{"__proto__":1}}', '{"constructor":{"prototype":{"a":1}}}']) {
  test(`${raw} is refused for its key`, () => refusedEverywhere({ raw }, 400, 'FORBIDDEN_KEY'));
}

for (const raw of ['[]', '[{}]', '"text"', '7', 'true']) {
  test(`a body of ${raw} is no object`, () => refusedEverywhere({ raw }, 400, 'INVALID_FIELD', { field: 'body' }));
}

test('a value nested 200,000 deep is refused like any other', async () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const send = (raw: string) => boss.post('/system/dept-api', undefined, { raw });
  assertRefused(await send(deep), 400, 'INVALID_FIELD', { field: 'body' });
  assertRefused(await send(`{"deptName":${deep}}`), 400, 'INVALID_FIELD', { field: 'deptName' });
});

test('no body, or an empty one, is missed', async () => {
  // Of a restored department there may be nothing to say.
  const needed = ({ operationId }: Operation) => operationId !== 'restoreDepartment';
  await refusedEverywhere({}, 400, 'BODY_REQUIRED', {}, needed);
  await refusedEverywhere({ raw: '' }, 400, 'BODY_REQUIRED', {}, needed);
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
for (const type of otherTypes) {
  test(`a body of type "${type}" is refused`, () =>
    refusedEverywhere({ raw: '{}', headers: { 'content-type': type } }, 415, 'NOT_JSON'));
}

test('a compressed body is refused for what it is', async () => {
  const raw = gzipSync('{}');
  await refusedEverywhere({ raw, headers: { 'content-encoding': 'gzip' } }, 415, 'NOT_JSON');
});

test('a body may have 1 MiB and not a byte more', async () => {
  const padded = (size: number) => `{"deptName":"padded"${' '.repeat(size - 21)}}`;
  assert.equal(Buffer.byteLength(padded(MiB)), MiB);
  assert.equal((await boss.post('/system/dept-api', undefined, { raw: padded(MiB) })).code, 200);
  await refusedEverywhere({ raw: padded(MiB + 1) }, 413, 'BODY_TOO_LARGE', { limit: MiB }, ({ path }) => path !== BULK);
});

test('a body of many departments may have 8 MiB and not a byte more', async () => {
  const padded = (size: number) => `{"departments":[{"ref":"padded"}]${' '.repeat(size - 34)}}`;
  assert.equal(Buffer.byteLength(padded(8 * MiB)), 8 * MiB);
  assert.equal((await boss.post(BULK, undefined, { raw: padded(8 * MiB) })).code, 200);
  const facts = { limit: 8 * MiB };
  await refusedEverywhere({ raw: padded(8 * MiB + 1) }, 413, 'BODY_TOO_LARGE', facts, ({ path }) => path === BULK);
});

test('JSON in its less usual forms is understood', async () => {
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
    const answer = await boss.post('/system/dept-api', undefined, { raw, headers: { 'content-type': type } });
    assert.equal(answer.code, 200, `${raw.slice(0, 60)}: ${answer.text}`);
    assert.equal((await boss.get(String(answer.headers.location))).data.deptName, '部门');
  }
});

test('where no body is needed, the header of one with nothing behind it does no harm', async () => {
  const headers = { 'content-type': 'application/json;charset=utf-8' };
  const [id, another] = [await boss.dept(), await boss.dept()];
  assert.equal((await boss.get(`/system/dept-api/${id}`, { headers })).code, 200);
  assert.equal((await boss.delete(`/system/dept-api/${id}`, { headers })).code, 200);
  assert.equal((await boss.delete(`/system/dept-api/${another}`, { headers, raw: '' })).code, 200);
  const user = await service.logIn(boss.tenantId, 'boss');
  assert.equal((await user.post('/auth/logout', undefined, { headers, raw: '' })).code, 200);
});
