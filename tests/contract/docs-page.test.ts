import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiResponse, shareService } from '../support/service.ts';

const service = await shareService();
const get = (path: string) => service.anonymous.get(path);

const page = await get('/docs');
const linked = [...page.text.matchAll(/\b(?:src|href)\s*=\s*["']([^"']+)["']/g)].map(
  ([, address = '']) => new URL(address, `${service.base}/docs`),
);
/** The page and everything that it loads, by path. */
const pages = new Map<string, ApiResponse>([['/docs', page]]);
for (const { pathname } of linked) pages.set(pathname, await get(pathname));

test('the API reference is served at /docs and /docs/', async () => {
  for (const path of ['/docs', '/docs/']) {
    const { status, headers, text } = await get(path);
    assert.equal(status, 200);
    assert.match(String(headers['content-type']), /^text\/html/);
    assert.match(text, /<title>Banyan/);
  }
});

test('the page loads scripts and styles only from the service itself', () => {
  for (const kind of ['.js', '.css'])
    assert.ok(
      linked.some(({ pathname }) => pathname.endsWith(kind)),
      kind,
    );
  for (const { origin, pathname } of linked) {
    assert.equal(origin, service.base, pathname);
    const { status, text, headers } = pages.get(pathname) as ApiResponse;
    assert.equal(status, 200, pathname);
    assert.ok(text.length > 0);
    assert.match(String(headers['content-type']), pathname.endsWith('.js') ? /javascript/ : /css|image/);
  }
});

test('style sheets load nothing from other origins', () => {
  const sheets = [...pages].filter(([path]) => path.endsWith('.css'));
  assert.ok(sheets.length > 0);
  for (const [path, { text }] of sheets) {
    const loaded = [...text.matchAll(/(?:url\(\s*["']?|@import\s+["'])([^"')]+)/g)].map(([, address = '']) => address);
    assert.deepEqual(
      loaded.filter((address) => !address.startsWith('data:')),
      [],
      path,
    );
  }
});

test('the page reads the OpenAPI document from the service and uses no external validator', () => {
  const script = [...pages].find(([path]) => path.endsWith('swagger-initializer.js'))?.[1].text ?? '';
  assert.match(script, /url: resolveUrl\('\.\/json'\)/);
  assert.match(script, /validatorUrl: null/);
  const config = /const config = (\{.*\})/.exec(script)?.[1] ?? '{}';
  assert.deepEqual(
    Object.keys(JSON.parse(config)).filter((key) => /url/i.test(key)),
    [],
  );
});

test('the page does not store the access token in the browser', () => {
  const script = [...pages].find(([path]) => path.endsWith('swagger-initializer.js'))?.[1].text ?? '';
  const config = JSON.parse(/const config = (\{.*\})/.exec(script)?.[1] ?? '{}');
  assert.equal(config.persistAuthorization, false);
});

test('/docs/json equals /openapi.json', async () => {
  assert.deepEqual(JSON.parse((await get('/docs/json')).text), JSON.parse((await get('/openapi.json')).text));
});

test('the Content-Security-Policy allows no other origins', async () => {
  for (const path of ['/docs', '/docs/', ...pages.keys()]) {
    const policy = String((await get(path)).headers['content-security-policy'] ?? '');
    assert.match(policy, /default-src 'self'/, path);
    const sources = policy.split(';').flatMap((directive) => directive.trim().split(/\s+/).slice(1));
    const foreign = sources.filter(
      (source) => !["'self'", "'none'", 'data:'].includes(source) && !/^'sha(256|384|512)-/.test(source),
    );
    assert.deepEqual(foreign, [], path);
    // Without TLS in front, a browser on any host but localhost would request everything over HTTPS and fail.
    assert.doesNotMatch(policy, /upgrade-insecure-requests/);
  }
});
