import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { otherwise, type Reason, reasons } from '../../server/http/refusals.ts';
import { version } from '../../server/version.ts';
import { operationsOf, readDocument, reasonsIn } from '../support/document.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const document = await readDocument(service);
const operations = operationsOf(document);
const OURS = ['/openapi.json', '/docs'];

test('the document is valid OpenAPI 3.1, by a linter that knows nothing of us', async () => {
  assert.match(document.openapi, /^3\.1\.\d+$/);
  const config = await createConfig({ extends: ['recommended'] });
  const source = JSON.stringify(document, null, 2);
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  const told = problems.map(
    ({ severity, ruleId, message, location }) => `${severity} ${ruleId} ${message} ${location[0]?.pointer}`,
  );
  // Not one warning is left either.
  assert.deepEqual(told, []);
});

test('it tells the version that the service tells', async () => {
  assert.equal(document.info.version, version);
  assert.equal((await service.anonymous.get('/version')).data.version, version);
});

test('every route is in the document, and every operation of the document is a route', () => {
  const routes = registered(service.app.printRoutes());
  const documented = operations.map(({ method, path }) => `${method} ${path}`);
  // HEAD comes with every GET; the document and the page that shows it don't describe themselves.
  const others = routes.filter(
    (route) => !route.startsWith('HEAD') && !OURS.some((path) => route.includes(` ${path}`)),
  );
  assert.deepEqual(others.sort(), documented.sort());
});

/** `GET /system/dept-api/{id}`, … from the tree of routes as Fastify draws it, four columns a level. */
function registered(tree: string): string[] {
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

test('every operation has a name of its own, a summary and a known tag', () => {
  const ids = operations.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  const known = document.tags.map(({ name }) => name);
  for (const { operationId, summary, tags } of operations) {
    assert.match(operationId, /^[a-z][A-Za-z]+$/);
    assert.ok(summary.length > 3, operationId);
    assert.equal(tags.length, 1);
    assert.ok(known.includes(tags[0] as string), operationId);
  }
});

test('every operation documents its success and its refusals, each reason under its own status', () => {
  for (const { operationId, responses } of operations) {
    const { 200: success, ...refusals } = responses;
    assert.equal(success?.content?.['application/json']?.schema.type, 'object', operationId);
    assert.ok(Object.keys(refusals).length >= 3, operationId);
    for (const [status, response] of Object.entries(refusals)) {
      const named = reasonsIn(response);
      assert.ok(named.length > 0, `${operationId} ${status}`);
      for (const reason of named) {
        assert.equal(reasons[reason as Reason]?.[0], Number(status), `${operationId} ${status} ${reason}`);
        assert.ok(response.description.includes(reason), `${operationId} ${status} explains ${reason}`);
      }
      const problem = response.content?.['application/problem+json']?.schema.properties?.reason?.enum;
      assert.deepEqual(problem, named, `${operationId} ${status} as a problem`);
    }
  }
});

test('where a reason is given for something else than usual, its text there is told', () => {
  const told = (id: string) => operations.find(({ operationId }) => operationId === id)?.responses[409]?.description;
  for (const [reason, usual, other] of [
    ['ACCOUNT_LIMIT', 'createUser', 'createTenant'],
    ['BRANCH_TOO_LARGE', 'deleteDepartments', 'orderDepartments'],
  ] as const) {
    const [texts, others] = [told(usual) ?? '', told(other) ?? ''];
    assert.deepEqual([texts.includes(reasons[reason][2]), texts.includes(otherwise[reason][2])], [true, false], usual);
    assert.deepEqual(
      [others.includes(reasons[reason][2]), others.includes(otherwise[reason][2])],
      [false, true],
      other,
    );
    assert.doesNotMatch(otherwise[reason][2], /\p{Script=Han}/u);
  }
});

test('every reason of the one list is told somewhere in the document', () => {
  const text = JSON.stringify(document);
  assert.deepEqual(
    Object.keys(reasons).filter((reason) => !new RegExp(`\\b${reason}\\b`).test(text)),
    [],
  );
});

test('the headers that callers need are documented', () => {
  for (const { operationId, method, path, responses } of operations) {
    for (const [status, { headers = {} }] of Object.entries(responses)) {
      const expected = ['X-Request-Id'];
      if (status !== '200') expected.push('Content-Language');
      // Read with a body, because an address has no room for so many ids.
      const reads = method === 'GET' || operationId === 'readDepartments';
      if (!reads && !['logIn', 'refresh'].includes(operationId)) expected.push('Idempotent-Replayed');
      if (status === '200' && ['logIn', 'refresh', 'logOut', 'endSession'].includes(operationId))
        expected.push('Set-Cookie');
      // Of many new ones the ids are in the body; below an id it is something that is done with what is there.
      const makesOne = method === 'POST' && !reads && /^\/system\/[^/]+$/.test(path);
      if (status === '200' && makesOne) expected.push('Location');
      if (status === '200' && method === 'GET' && /^\/system\/.*\{id\}$/.test(path)) expected.push('ETag');
      if (status === '401') expected.push('WWW-Authenticate');
      if (status === '405') expected.push('Allow');
      if (status === '429' || status === '503') expected.push('Retry-After');
      assert.deepEqual(Object.keys(headers).sort(), expected.sort(), `${operationId} ${status}`);
      for (const [name, header] of Object.entries(headers)) {
        assert.equal(header.schema.type, 'string', `${operationId} ${status} ${name}`);
        assert.ok(header.description, name);
      }
    }
  }
});

test('every operation says whether it needs an access token', () => {
  assert.deepEqual(
    Object.values(document.components.securitySchemes).map(({ type, scheme }) => [type, scheme]),
    [['http', 'bearer']],
  );
  const open = ['isLive', 'isReady', 'readVersion', 'logIn', 'refresh'];
  for (const { operationId, security, responses } of operations) {
    const expected = open.includes(operationId) ? [] : [{ accessToken: [] }];
    assert.deepEqual(security, expected, operationId);
    assert.equal(reasonsIn(responses[401]).includes('NO_TOKEN'), expected.length > 0, operationId);
  }
});

test('paths name their id, and the bodies are required JSON', () => {
  for (const { operationId, path, parameters = [], requestBody } of operations) {
    const inPath = parameters.filter((parameter) => parameter.in === 'path');
    assert.deepEqual(
      inPath.map(({ name }) => `{${name}}`),
      path.match(/\{\w+\}/g) ?? [],
      operationId,
    );
    assert.ok(inPath.every(({ required }) => required));
    if (!requestBody) continue;
    assert.equal(requestBody.required, true);
    assert.deepEqual(Object.keys(requestBody.content), ['application/json']);
  }
});
