import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { PERMISSIONS, type Permission } from '../../server/auth/permissions.ts';
import { alternativeTexts, type ErrorCode, errorCatalog } from '../../server/http/errors.ts';
import { version } from '../../server/version.ts';
import { dataOf, hasEnvelope, operationsOf, readDocument, reasonsIn } from '../support/openapi.ts';
import { shareService } from '../support/service.ts';

const service = await shareService();
const document = await readDocument(service);
const allOperations = operationsOf(document);
const operations = allOperations.filter(hasEnvelope);
const UNDOCUMENTED = ['/openapi.json', '/docs'];

test('the document and /version state the version of the service', async () => {
  assert.equal(document.info.version, version);
  assert.equal((await service.anonymous.get('/version')).data.version, version);
});

test('the document lists exactly the registered routes', () => {
  const routes = parseRoutes(service.app.printRoutes());
  const documented = allOperations.map(({ method, path }) => `${method} ${path}`);
  // Fastify adds HEAD to every GET; the document and its page do not describe themselves.
  const others = routes.filter(
    (route) => !route.startsWith('HEAD') && !UNDOCUMENTED.some((path) => route.includes(` ${path}`)),
  );
  assert.deepEqual(others.sort(), documented.sort());
});

/** Parses the tree that Fastify prints, indented by four columns per level, into routes such as `GET /system/dept-api/{id}`. */
function parseRoutes(tree: string): string[] {
  const above: string[] = [];
  return tree
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', name = '', , methods = ''] =
        /^(.*?[├└]── )(\S+)( \(([^)]+)\))?$/.exec(line) ?? assert.fail(line);
      const depth = indent.length / 4;
      above.length = depth - 1;
      above.push(name);
      const path = above.join('').replace(/:(\w+)/g, '{$1}');
      return methods ? methods.split(', ').map((method) => `${method} ${path}`) : [];
    });
}

/** Whether the operation returns a spreadsheet file. */
const isFile = (operationId: string) => /^export|Template$/.test(operationId);
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

test('every operation has a unique id, a summary and a known tag', () => {
  const ids = allOperations.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  const known = document.tags.map(({ name }) => name);
  for (const { operationId, summary, tags } of allOperations) {
    assert.match(operationId, /^[a-z][A-Za-z]+$/);
    assert.ok(summary.length > 3, operationId);
    assert.equal(tags.length, 1);
    assert.ok(known.includes(tags[0] as string), operationId);
  }
});

test('every operation documents its success and its errors, each error code under its own status', () => {
  const listed = new Set<string>();
  for (const { operationId, responses } of operations) {
    const { 200: success, ...errors } = responses;
    if (isFile(operationId)) assert.deepEqual(Object.keys(success?.content ?? {}), [XLSX, 'text/csv'], operationId);
    else if (operationId !== 'streamChanges') assert.ok(dataOf(success), operationId);
    assert.ok(errors.default, operationId);
    for (const [status, response] of Object.entries(errors)) {
      if (status === '304') continue;
      // Operations without errors of their own have this response because linters expect one for client errors.
      if (status === '400' && isDeepStrictEqual(response, responses.default)) continue;
      const named = reasonsIn(response);
      assert.ok(named.length > 0, `${operationId} ${status}`);
      for (const reason of named) {
        if (status === 'default') listed.add(reason);
        else assert.equal(Number(status), errorCatalog[reason as ErrorCode]?.[0], `${operationId} ${status} ${reason}`);
        listed.add(response.description.includes(`\`${reason}\``) ? reason : '');
      }
      // Any error may have this form. The document says so once, and refers to it only in the response `default`.
      const problem = response.content?.['application/problem+json']?.schema;
      const reference = { $ref: '#/components/schemas/Problem' };
      assert.deepEqual(problem, status === 'default' ? reference : undefined);
    }
  }
  const documented = new Set(operations.flatMap(({ responses }) => Object.values(responses).flatMap(reasonsIn)));
  assert.deepEqual(
    [...documented].filter((reason) => !listed.has(reason)),
    [],
    'each reason is listed in the description of a response, or in the schema of the response `default`',
  );
});

test('an operation with its own text for an error code documents that text', () => {
  const conflictTextOf = (id: string) =>
    operations.find(({ operationId }) => operationId === id)?.responses[409]?.description;
  for (const [reason, usual, other] of [
    ['ACCOUNT_LIMIT', 'createUser', 'createTenant'],
    ['BRANCH_TOO_LARGE', 'deleteDepartments', 'orderDepartments'],
  ] as const) {
    // An operation with the usual text lists the code only.
    assert.match(conflictTextOf(usual) ?? '', new RegExp(`\`${reason}\`(?! )`));
    assert.ok(conflictTextOf(other)?.includes(`\`${reason}\` ${alternativeTexts[reason][2]}`), other);
    assert.doesNotMatch(alternativeTexts[reason][2], /\p{Script=Han}/u);
  }
});

test('the document mentions every error code', () => {
  const text = JSON.stringify(document);
  assert.deepEqual(
    Object.keys(errorCatalog).filter((reason) => !new RegExp(`\\b${reason}\\b`).test(text)),
    [],
  );
});

test('the headers that callers need are documented', () => {
  for (const { operationId, method, path, responses, security } of operations) {
    for (const [status, { headers = {} }] of Object.entries(responses)) {
      const isError = status !== '200' && status !== '304';
      // The introduction describes X-Request-Id and Content-Language, which all responses or all errors have.
      const expected: string[] = [];
      // These read with POST because a URL has no room for so many ids.
      const reads = method === 'GET' || ['readDepartments', 'readUsers'].includes(operationId);
      if (status === '200' && ['logIn', 'refresh', 'logOut', 'endSession'].includes(operationId))
        expected.push('Set-Cookie');
      // A bulk creation returns its ids in the body, and a POST below an id acts on an existing record.
      const createsOne = method === 'POST' && !reads && /^\/system\/[^/]+$/.test(path);
      if (status === '200' && createsOne) expected.push('Location');
      if (!isError && method === 'GET' && /^\/system\/.*\{(id|externalId)\}$/.test(path)) expected.push('ETag');
      if (!isError && operationId === 'readEntitlements') expected.push('ETag');
      if (status === '200' && isFile(operationId)) expected.push('Content-Disposition');
      const isGeneral = isError && isDeepStrictEqual(responses[status], responses.default);
      if (isGeneral && security?.length) expected.push('WWW-Authenticate');
      if (status === '405') expected.push('Allow');
      if (isGeneral) expected.push('Retry-After');
      assert.deepEqual(Object.keys(headers).sort(), expected.sort(), `${operationId} ${status}`);
      for (const [name, header] of Object.entries(headers)) {
        assert.equal(header.schema.type, 'string', `${operationId} ${status} ${name}`);
        assert.ok(header.description, name);
      }
    }
  }
});

test('every operation on records names the permission that it requires', () => {
  for (const { operationId, path, method, security, description } of operations) {
    if (!path.startsWith('/system/')) continue;
    const [permission] = security?.[0]?.token ?? [];
    const [resource, action] = permission?.split(':') ?? [];
    assert.ok(PERMISSIONS.includes(permission as Permission), `${operationId}: ${permission}`);
    assert.ok(description?.startsWith(`Requires \`${permission}\``), `${operationId}: ${description}`);
    // These have no permission for reading only.
    if (!['webhook', 'key', 'import', 'export'].includes(resource ?? ''))
      assert.equal(action === 'read', method === 'GET' || path.endsWith('batch-read'), operationId);
  }
});

test('every operation documents whether it requires an access token', () => {
  assert.deepEqual(
    Object.values(document.components.securitySchemes).map(({ type, scheme }) => [type, scheme]),
    [['http', 'bearer']],
  );
  const open = ['isLive', 'isReady', 'readVersion', 'logIn', 'refresh'];
  for (const { operationId, security, responses } of operations) {
    const requiresToken = !open.includes(operationId);
    assert.deepEqual(
      (security ?? []).map((scheme) => Object.keys(scheme)),
      requiresToken ? [['token']] : [],
      operationId,
    );
    assert.equal(reasonsIn(responses.default).includes('NO_TOKEN'), requiresToken, operationId);
  }
});

test('path parameters are documented and required, and bodies are JSON (for imports a form), required in all but four operations', () => {
  const withOptionalBody = ['restoreDepartment', 'rotateKey', 'confirmReservation', 'releaseReservation'];
  for (const { operationId, method, path, parameters = [], requestBody } of operations) {
    const inPath = parameters.filter((parameter) => parameter.in === 'path');
    assert.deepEqual(
      inPath.map(({ name }) => `{${name}}`),
      path.match(/\{\w+\}/g) ?? [],
      operationId,
    );
    assert.ok(inPath.every(({ required }) => required));
    if (!requestBody) continue;
    assert.equal(requestBody.required ?? false, !withOptionalBody.includes(operationId), operationId);
    assert.deepEqual(Object.keys(requestBody.content), [
      ...(method === 'PATCH' ? ['application/merge-patch+json'] : []),
      // An import receives a file in a form.
      path.endsWith('/import') ? 'multipart/form-data' : 'application/json',
    ]);
  }
});

const schemas = document.components.schemas;
const text = JSON.stringify(document);

test('records, inputs and errors are named components', () => {
  for (const name of [
    'Department',
    'Tenant',
    'User',
    'Change',
    'AuditEntry',
    'Webhook',
    'Error',
    'Problem',
    'ErrorCode',
  ])
    assert.ok(schemas[name], name);
  assert.deepEqual(schemas.ErrorCode?.enum, Object.keys(errorCatalog));
  const dept = operations.find(({ operationId }) => operationId === 'readDepartment');
  assert.deepEqual(dataOf(dept?.responses[200]), { $ref: '#/components/schemas/Department' });
  assert.doesNotMatch(text, /"x-(?!request)/i, 'keywords that only the code uses');
});

test('every reference leads to a component', () => {
  for (const [, section = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)) {
    assert.ok(
      (document.components as unknown as Record<string, object>)[section]?.[name as never],
      `${section} ${name}`,
    );
  }
});

test('the nodes of a tree contain nodes, and the record in a change has the type of its resource', () => {
  for (const name of ['DepartmentNode', 'TenantNode'])
    assert.deepEqual(schemas[name]?.properties?.children?.items, { $ref: `#/components/schemas/${name}` });
  assert.equal(schemas.Change?.oneOf?.length, 8);
  for (const [name, record] of [
    ['DepartmentChange', 'Department'],
    ['TenantChange', 'Tenant'],
    ['UserChange', 'User'],
  ] as const) {
    for (const side of ['before', 'after'])
      assert.deepEqual(schemas[name]?.allOf?.[1]?.properties?.[side]?.anyOf?.[0], {
        $ref: `#/components/schemas/${record}`,
      });
  }
});

test('the event stream is declared as text/event-stream', () => {
  const stream = operations.find(({ operationId }) => operationId === 'streamChanges');
  assert.deepEqual(Object.keys(stream?.responses[200]?.content ?? {}), ['text/event-stream']);
});

test('the document is smaller than 150 kB, is sent compressed, and is not sent again to a client that has it', async () => {
  const get = (path: string, headers: Record<string, string> = {}) => service.anonymous.get(path, { headers });
  for (const path of ['/openapi.json', '/docs/json']) {
    const plain = await get(path);
    assert.ok(Buffer.byteLength(plain.text) < 150_000, `${Buffer.byteLength(plain.text)} bytes`);
    const tags = new Set([plain.headers.etag]);
    for (const encoding of ['br', 'gzip']) {
      const { status, headers } = await get(path, { 'accept-encoding': encoding });
      assert.deepEqual([status, headers['content-encoding'], headers.vary], [200, encoding, 'accept-encoding']);
      assert.ok(Number(headers['content-length']) < 30_000, `${encoding}: ${headers['content-length']} bytes`);
      tags.add(headers.etag);
      const again = await get(path, { 'accept-encoding': encoding, 'if-none-match': String(headers.etag) });
      assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', headers.etag]);
    }
    assert.equal(tags.size, 3, 'each encoding has its own tag');
    assert.equal((await get(path, { 'if-none-match': '"other"' })).status, 200);
  }
});
