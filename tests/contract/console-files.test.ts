import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { readConsoleFiles } from '../../server/console/files.ts';
import { after } from '../support/cleanup.ts';
import { expectError } from '../support/expect.ts';
import { project } from '../support/process.ts';
import { startService } from '../support/service.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-console-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));
const script = `console.log(${JSON.stringify('榕树'.repeat(500))})`;
const page = '<meta name="nonce" content="__CSP_NONCE__"><style nonce="__CSP_NONCE__"></style>';
fs.mkdirSync(path.join(folder, 'assets'));
for (const [name, content] of [
  ['index.html', page],
  ['icon.svg', '<svg/>'],
  ['assets/main-1a2b.js', script],
  ['assets/main-1a2b.js.br', brotliCompressSync(script)],
  ['assets/main-1a2b.js.gz', gzipSync(script)],
  ['assets/main-1a2b.js.map', '{}'],
  ['assets/plain-3c4d.css', 'a{}'],
] as const) {
  fs.writeFileSync(path.join(folder, name), content);
}
const service = await startService({}, { consoleFiles: readConsoleFiles(pathToFileURL(`${folder}/`)) });
const withoutConsole = await startService({}, { consoleFiles: readConsoleFiles(pathToFileURL(`${folder}/nowhere/`)) });
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const html = { headers: { accept } };
const routes = fs.readFileSync(path.join(project, 'console/src/routes.tsx'), 'utf8');
/** The paths of the console's router, with and without their optional parts. */
const screens = [...routes.matchAll(/path: '\/?([^*'][^']*)?'/g)].flatMap(([, route = '']) => [
  `/${route.replace(/\/(?:\*|:\w+\?)$/, '').replace(/:\w+/, '7')}`,
  `/${route.replace(/\/\*$/, '').replace(/:\w+\??/, '7')}`,
]);
// The screens below tenants/*, webhooks/* and quotas/* define their routes themselves, outside routes.tsx.
screens.push('/tenants/new', '/tenants/1/edit', '/webhooks/7', '/quotas/merchant');

test('a browser gets the console page at the URL of every screen', async () => {
  assert.ok(screens.includes('/login') && screens.includes('/changes/tree') && screens.includes('/departments/7'));
  for (const at of [...screens, '/people', '/people/?q=王&page=2', '/login?next=/home']) {
    const { status, headers, text } = await service.anonymous.get(encodeURI(at), html);
    assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], at);
    assert.match(text, /^<meta/);
    assert.deepEqual([headers['cache-control'], headers.etag], ['no-cache', undefined]);
    assert.deepEqual(
      [headers['x-content-type-options'], headers['referrer-policy'], headers['set-cookie']],
      ['nosniff', 'no-referrer', undefined],
    );
  }
});

test('the page has a strict Content-Security-Policy with a new style nonce each time', async () => {
  const nonces = new Set<string>();
  for (let times = 0; times < 3; times++) {
    const { headers, text } = await service.anonymous.get('/', html);
    const [, nonce = ''] = /content="([^"]+)"/.exec(text) ?? [];
    assert.equal(text, page.replaceAll('__CSP_NONCE__', nonce));
    assert.ok(Buffer.from(nonce, 'base64').length >= 16);
    assert.equal(
      headers['content-security-policy'],
      `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; ` +
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    nonces.add(nonce);
  }
  assert.equal(nonces.size, 3);
});

test('assets are immutable and served with the best accepted encoding', async () => {
  const at = '/assets/main-1a2b.js';
  const get = (encoding?: string) =>
    service.anonymous.get(at, encoding === undefined ? {} : { headers: { 'accept-encoding': encoding } });
  const { status, headers, text } = await get();
  assert.deepEqual([status, text, headers['content-encoding']], [200, script, undefined]);
  assert.equal(headers['content-type'], 'text/javascript; charset=utf-8');
  assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal(headers.vary, 'accept-encoding');
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=1.0', 'br'],
    ['identity, xbr', undefined],
  ] as const) {
    assert.equal((await get(accepted)).headers['content-encoding'], encoding, accepted);
  }
  const compressed = await fetch(`${service.base}${at}`, { headers: { 'accept-encoding': 'br' } });
  assert.equal(await compressed.text(), script);
  const icon = await service.anonymous.get('/icon.svg');
  assert.deepEqual([icon.headers['content-type'], icon.headers['cache-control']], ['image/svg+xml', 'no-cache']);
  assert.equal(
    (await service.anonymous.get('/assets/plain-3c4d.css')).headers['content-type'],
    'text/css; charset=utf-8',
  );
});

test('HEAD returns the length of GET without the body', async () => {
  for (const at of ['/', '/assets/main-1a2b.js']) {
    const whole = await service.anonymous.get(at, html);
    const head = await service.anonymous.call('HEAD', at, undefined, html);
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal(head.headers['content-length'], whole.headers['content-length']);
  }
});

test('a browser gets the page with the status 404 at an unknown address, so that it shows the navigation', async () => {
  for (const at of [
    '/hooks',
    '/webhooks/7/8',
    '/home/foo',
    '/index.html',
    '/Login',
    '/login/x',
    '/departmentsx',
    '/departments/1/2',
    '/people/1/2',
    '/quotas/a/b',
    '/tenants/1/edit/2',
    '/changes/nope',
    '/nope?q=1',
  ]) {
    const { status, headers, text } = await service.anonymous.get(at, html);
    assert.deepEqual([status, headers['content-type'], headers.vary], [404, 'text/html; charset=utf-8', 'accept'], at);
    assert.match(text, /^<meta/);
    expectError(await service.anonymous.get(at), 404, 'PATH_NOT_FOUND', {}, at);
    expectError(await withoutConsole.anonymous.get(at, html), 404, 'PATH_NOT_FOUND', {}, at);
    expectError(await service.anonymous.post(at, {}, html), 404, 'PATH_NOT_FOUND', {}, at);
  }
});

test('unknown operations and assets get an error in JSON, and no file outside the console folder is served', async () => {
  for (const at of [
    '/assets',
    '/assets/',
    '/assets/nope.js',
    '/assets/main-1a2b.js.br',
    '/assets/main-1a2b.js.map',
    '/assets/../index.html',
    '/assets/..%2f..%2f..%2fetc%2fpasswd',
    '//etc/passwd',
    '/system',
    '/system/dept-api/1/2',
    '/auth',
    '/health/nope',
    '/version/2',
  ]) {
    expectError(await service.anonymous.get(at, html), 404, 'PATH_NOT_FOUND', {}, at);
  }
});

test('API clients get an enveloped 404 where browsers get the page', async () => {
  for (const at of screens) {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      expectError(await service.anonymous.get(at, { headers }), 404, 'PATH_NOT_FOUND', {}, at);
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expectError(await service.anonymous.call(method, at, undefined, html), 404, 'PATH_NOT_FOUND', {}, at);
    }
  }
  // Operations treat both kinds of client alike.
  assert.equal((await service.anonymous.get('/version', html)).code, 200);
  expectError(await service.anonymous.get('/system/dept-api/list', html), 401, 'NO_TOKEN');
  expectError(await service.anonymous.get('/auth/login', html), 405, 'METHOD_NOT_ALLOWED');
});

test('the screens return CONSOLE_NOT_BUILT when the console was not built', async () => {
  for (const at of screens) expectError(await withoutConsole.anonymous.get(at, html), 404, 'CONSOLE_NOT_BUILT', {}, at);
  expectError(await withoutConsole.anonymous.get('/assets/main-1a2b.js', html), 404, 'PATH_NOT_FOUND');
});
