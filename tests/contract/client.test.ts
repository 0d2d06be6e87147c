import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type ClientOptions,
  createClient,
  isApiError,
  NetworkError,
  OAuthError,
  type ReasonOf,
} from '../../client/src/main.ts';
import { DEPTS } from '../support/expect.ts';
import { csv } from '../support/import.ts';
import { operationsOf, readDocument } from '../support/openapi.ts';
import { PASSWORD, shareService } from '../support/service.ts';

/** The typed client, against a real service. What happens when requests fail is in client-retries and client-feed. */

const service = await shareService();
const admin = await service.createTenant();
const root = fileURLToPath(new URL('../../..', import.meta.url));

const connect = (options: ClientOptions = {}) =>
  createClient({ baseUrl: service.base, language: 'en', key: String(admin.token), ...options });

test('the client was generated from the OpenAPI document of the service', async () => {
  const { digestOf } = await import(pathToFileURL(path.join(root, 'scripts/client-operations.js')).href);
  const text = fs.readFileSync(path.join(root, 'client/src/generated/operations.ts'), 'utf8');
  const [, digest] = /document: ([0-9a-f]{64})\n/.exec(text) ?? [];
  assert.equal(digest, digestOf(await readDocument(service)), 'it is out of date: run npm run generate-client');
});

test('the client has a method for every operation', async () => {
  const client = connect() as unknown as Record<string, unknown>;
  for (const { operationId } of operationsOf(await readDocument(service)))
    assert.equal(typeof client[operationId], 'function', operationId);
});

test('methods named after the operations create, read, change and delete records', async () => {
  const client = connect();
  const { id } = await client.createDepartment({ body: { deptName: '研发部', leader: '张三' } });
  const { data, etag } = await client.readDepartment({ id });
  assert.deepEqual([String(data.deptId), data.deptName, data.leader], [id, '研发部', '张三']);
  await client.patchDepartment({ id, body: { deptName: '研发中心' } }, { ifMatch: etag });
  const { data: patched } = await client.readDepartment({ id });
  assert.deepEqual([patched.deptName, patched.leader], ['研发中心', '张三']);
  const stale = client.updateDepartment({ body: { deptId: id, deptName: '旧' } }, { ifMatch: etag });
  await assert.rejects(stale, (error) => isApiError(error, 'CHANGED_MEANWHILE') && error.status === 412);
  const { id: other } = await client.createDepartment({ body: { deptName: '市场部' } });
  await client.deleteDepartments({ id: [id, other] });
  await client.restoreDepartment({ id, body: {} });
  const { data: rows } = await client.readDepartments({ body: { ids: [id, other] } });
  assert.deepEqual(
    rows.rows.map(({ deptName }) => deptName),
    ['研发中心'],
  );
});

test('errors are told apart by their reason, and their messages are in the language of the client', async () => {
  const failure = async (language: string) =>
    connect({ language })
      .readDepartment({ id: 7 })
      .catch((error: unknown) => error);
  const error = await failure('en');
  assert.ok(isApiError(error));
  // The types know the reasons of an operation: this does not compile with one that it cannot return.
  const expected: ReasonOf<'readDepartment'> = 'DEPT_NOT_FOUND';
  assert.deepEqual([error.status, error.reason, error instanceof Error], [404, expected, true]);
  assert.match(error.message, /department does not exist/);
  assert.match(String(((await failure('zh-CN')) as Error).message), /部门不存在/);
  assert.ok(isApiError(error, 'USER_NOT_FOUND', 'DEPT_NOT_FOUND') && !isApiError(error, 'USER_NOT_FOUND'));
  const invalid = await connect()
    .createDepartment({ body: { deptName: 'x'.repeat(1000) } })
    .catch((thrown: unknown) => thrown);
  assert.ok(isApiError(invalid, 'INVALID_FIELD'));
  assert.equal(invalid.details.field, 'deptName');
});

test('errors are recognized when the service sends all of them with status 200', async () => {
  const always200: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    return new Response(response.body, { headers: response.headers });
  };
  const read = connect({ fetch: always200 }).readDepartment({ id: 7 });
  await assert.rejects(read, (error) => isApiError(error, 'DEPT_NOT_FOUND'));
});

test('an id above 2^53-1 is sent exactly if it is a string, and not at all if it is a number, which may be rounded already', async () => {
  const sent: { url: string; body: unknown }[] = [];
  const record: typeof fetch = (url, init) => {
    sent.push({ url: String(url), body: init?.body });
    return fetch(url, init);
  };
  const client = connect({ fetch: record });
  const large = '9007199254740993';
  await assert.rejects(client.readDepartment({ id: large }), (error) => isApiError(error, 'DEPT_NOT_FOUND'));
  await assert.rejects(client.createDepartment({ body: { deptName: 'x', parentId: large } }), (error) =>
    isApiError(error, 'PARENT_NOT_FOUND'),
  );
  assert.ok(sent[0]?.url.endsWith(`${DEPTS}/${large}`));
  assert.ok(String(sent[1]?.body).includes(`"${large}"`));
  const rounded = 2 ** 53;
  await assert.rejects(client.readDepartment({ id: rounded }), TypeError);
  await assert.rejects(client.deleteDepartments({ id: [1, rounded] }), TypeError);
  await assert.rejects(client.createDepartment({ body: { deptName: 'x', parentId: rounded } }), TypeError);
  await assert.rejects(client.listDepartments({ underId: rounded }), TypeError);
  assert.equal(sent.length, 2);
});

test('a path parameter cannot lead to another path', async () => {
  const client = connect({ fetch: () => assert.fail('nothing is sent') });
  for (const id of ['', '.', '..', []]) await assert.rejects(client.readDepartment({ id }), TypeError, String(id));
  const urls: string[] = [];
  const record: typeof fetch = (url, init) => {
    urls.push(String(url));
    return fetch(url, init);
  };
  await assert.rejects(connect({ fetch: record }).readDepartment({ id: '1/../2?x=#' }));
  assert.deepEqual(urls, [`${service.base}${DEPTS}/1%2F..%2F2%3Fx%3D%23`]);
});

test('iterating a list with a cursor reads all of its pages', async () => {
  const tenant = await service.createTenant();
  const client = connect({ key: String(tenant.token) });
  const names = Array.from({ length: 7 }, (_, n) => `部门${n}`);
  const { id: parentId } = await client.createDepartment({ body: { deptName: '总部' } });
  const departments = names.map((deptName, orderNum) => ({ ref: deptName, deptName, orderNum }));
  await client.addDepartments({ body: { parentId, departments } });
  const listed: string[] = [];
  for await (const { deptName } of client.iterate.listDepartments({ pageSize: 3, parentId })) listed.push(deptName);
  assert.deepEqual(listed, names);
  const children: string[] = [];
  for await (const { deptName } of client.iterate.listChildren({ id: parentId, limit: 2 })) children.push(deptName);
  assert.deepEqual(children, names);
  const users = Array.from({ length: 5 }, (_, n) => ({ ref: `u${n}`, userName: `u${n}`, password: PASSWORD }));
  await client.addUsers({ body: { users } });
  const people: string[] = [];
  for await (const { userName } of client.iterate.listUsers({ pageSize: 2, sort: '-userName' })) people.push(userName);
  assert.deepEqual(people, ['u4', 'u3', 'u2', 'u1', 'u0', 'boss']);
  const entries: string[] = [];
  for await (const { action } of client.iterate.listChanges({ limit: 3, resource: 'department' })) entries.push(action);
  assert.equal(entries.length, 8);
});

test('a file is uploaded, and a list is downloaded as a file', async () => {
  const tenant = await service.createTenant();
  const client = connect({ key: String(tenant.token) });
  const upload = (rows: string[][]) => ({ body: { file: new Blob([csv([['Department path', 'Status'], ...rows])]) } });
  const idempotencyKey = randomUUID();
  const file = upload([
    ['总部', 'Normal'],
    ['总部/研发部', ''],
  ]);
  const { data: imported } = await client.importDepartments({ mode: 'apply', ...file }, { idempotencyKey });
  assert.equal(imported.created, 2);
  const { headers } = await client.importDepartments({ mode: 'apply', ...file }, { idempotencyKey });
  assert.equal(headers.get('idempotent-replayed'), 'true');
  const invalid = upload([['总部', 'Maybe']]);
  await assert.rejects(client.importDepartments({ mode: 'apply', ...invalid }), (error) =>
    isApiError(error, 'ROWS_INVALID'),
  );
  const { data: exported } = await client.exportDepartments({ format: 'csv' });
  assert.match(String(exported.headers.get('content-disposition')), /^attachment; filename="departments\.csv"/);
  assert.match(await exported.text(), /总部\/研发部/);
  await assert.rejects(connect({ key: 'wrong' }).exportDepartments(), (error) => isApiError(error, 'INVALID_TOKEN'));
});

test('a success may be a file or a stream if the caller asks for it, but never an HTML page', async () => {
  const client = connect();
  const body = { file: new Blob([csv([['部门路径'], ['事业部']])]) };
  const report = await client.importDepartments({ mode: 'preview', report: 'csv', body });
  assert.match(await (report.data as unknown as Response).text(), /事业部/);
  const accept = { headers: { accept: 'text/event-stream' } };
  const events = await client.importDepartments({ mode: 'apply', body }, accept);
  assert.match(await (events.data as unknown as Response).text(), /^event: progress\n[\s\S]*\nevent: result\n/);
  const portal = async () => new Response('<html>', { headers: { 'content-type': 'text/html' } });
  await assert.rejects(connect({ fetch: portal, retry: false }).exportDepartments(), NetworkError);
});

test('a user logs in, their tokens are reported, and calls fail after logout', async () => {
  const reported: (string | undefined)[] = [];
  const client = createClient({
    baseUrl: service.base,
    onTokens: (tokens) => reported.push(tokens?.refresh_token),
  });
  await assert.rejects(client.readMe(), (error) => isApiError(error, 'NO_TOKEN'));
  const { data } = await client.logIn({
    body: { tenantId: admin.tenantId, username: 'boss', password: PASSWORD },
  });
  assert.equal((await client.readMe()).data.user.userName, 'boss');
  await client.logOut();
  assert.deepEqual(reported, [data.refresh_token, undefined]);
  await assert.rejects(client.readMe(), (error) => isApiError(error, 'NO_TOKEN'));
});

test('a client with an API key never refreshes tokens, not even after an error', async () => {
  const paths: string[] = [];
  const record: typeof fetch = (url, init) => {
    paths.push(new URL(String(url)).pathname);
    return fetch(url, init);
  };
  const { data } = await connect().addKey({ body: { keyName: 'client', permissions: ['dept:read'] } });
  const client = connect({ key: String(data.key), fetch: record });
  await client.readTree();
  await assert.rejects(client.createDepartment({ body: {} }), (error) => isApiError(error, 'NOT_ALLOWED'));
  await connect().deleteKey({ id: data.keyId });
  await assert.rejects(client.readTree(), (error) => isApiError(error, 'INVALID_KEY'));
  assert.deepEqual(paths, [`${DEPTS}/tree`, DEPTS, `${DEPTS}/tree`]);
});

test('OAuth operations return the responses and errors of their standard', async () => {
  const { data: key } = await connect().addKey({ body: { keyName: 'oauth', permissions: ['dept:read'] } });
  const grant = { grant_type: 'client_credentials', client_id: String(key.keyId) };
  const { data } = await connect().issueToken({ body: { ...grant, client_secret: String(key.key) } });
  assert.ok(Array.isArray((await connect({ key: data.access_token }).readTree()).data));
  const wrong = connect().issueToken({ body: { ...grant, client_secret: 'wrong' } });
  await assert.rejects(wrong, (error) => error instanceof OAuthError && error.error === 'invalid_client');
});
