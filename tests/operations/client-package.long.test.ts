// Only with test:long: it runs npm, four compilations and a browser; contract/client covers the client itself.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { findChromium } from '../support/chromium.ts';
import { afterFile } from '../support/cleanup.ts';
import { installClient } from '../support/client-package.ts';
import { project } from '../support/process.ts';
import { PASSWORD, startService } from '../support/service.ts';

/** The client as it is published: packed, installed into an empty project, compiled with its types and run. */

const { folder, installed, run, write } = await installClient();

// Serves the files of the package to the browser. Its origin is not that of the service, so the browser needs CORS.
const files = http.createServer((request, response) => {
  const file = path.join(installed, new URL(String(request.url), 'http://x').pathname);
  if (!file.endsWith('.js')) return response.setHeader('content-type', 'text/html').end('<!doctype html>');
  return response.setHeader('content-type', 'text/javascript').end(fs.readFileSync(file));
});
await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
afterFile(() => files.close());
const origin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;

const service = await startService({ BANYAN_CORS_ORIGINS: origin });
const admin = await service.createTenant();

/** Compiles the files of a folder with the given settings for modules. */
async function compile(name: string, module: string, moduleResolution: string): Promise<void> {
  const compilerOptions = {
    module,
    moduleResolution,
    target: 'es2022',
    lib: ['es2023'],
    types: ['node'],
    typeRoots: [path.join(project, 'node_modules/@types')],
    strict: true,
    exactOptionalPropertyTypes: true,
    // Check the declarations of the package too.
    skipLibCheck: false,
    outDir: 'out',
    rootDir: '.',
  };
  write(`${name}/tsconfig.json`, { compilerOptions, include: ['*.ts'] });
  await run(process.execPath, [path.join(project, 'node_modules/typescript/bin/tsc'), '-p', path.join(folder, name)]);
}

let environment: Record<string, string>;
before(async () => {
  const { data } = await admin.post('/system/key-api', {
    keyName: 'package',
    permissions: ['dept:read', 'dept:write', 'change:read', 'import', 'export'],
  });
  environment = { BANYAN_URL: service.base, BANYAN_KEY: data.key, BANYAN_PASSWORD: PASSWORD };
});

const PROGRAM = `
const client = createClient({ baseUrl: String(process.env.BANYAN_URL), key: String(process.env.BANYAN_KEY) });

/** These must not compile: types that accept anything would prove nothing. */
export const rejected = [
  // @ts-expect-error there is no such operation
  () => client.readNothing(),
  // @ts-expect-error a department has no such field
  async () => (await client.readDepartment({ id: 1 })).data.notAField,
  // @ts-expect-error the name of a department is a string
  () => client.createDepartment({ body: { deptName: 7 } }),
  // @ts-expect-error the id is missing
  () => client.readDepartment({}),
  // @ts-expect-error there is no such error code
  (error: unknown) => isApiError(error, 'NO_SUCH_REASON'),
  // @ts-expect-error reading a department never returns this code
  (): ReasonOf<'readDepartment'> => 'USER_NAME_TAKEN',
];

async function main() {
  const { id } = await client.createDepartment({ body: { deptName: NAME } });
  const { data } = await client.readDepartment({ id });
  const name: string = data.deptName;
  const reason: Reason | '' = await client.readDepartment({ id: 7 }).then(
    () => '',
    (error: unknown) => (isApiError(error) ? error.reason : ''),
  );
  console.log(JSON.stringify([name, reason, statusOf(reason)]));
}

/** Returns the status of an error code. The compiler checks the case labels, because Reason is a union. */
function statusOf(reason: Reason | ''): number {
  switch (reason) {
    case 'DEPT_NOT_FOUND':
      return 404;
    default:
      return 0;
  }
}
void main();
`;

test('types resolve and the package runs in projects with ES modules and with CommonJS', async () => {
  const imports = (
    NAME: string,
  ) => `import { createClient, isApiError, type Reason, type ReasonOf } from '@banyan/client';
    const NAME = '${NAME}';`;
  for (const [name, type, module, resolution] of [
    ['esm', 'module', 'node16', 'node16'],
    ['cjs', 'commonjs', 'node16', 'node16'],
    ['bundled', 'module', 'esnext', 'bundler'],
  ] as const) {
    write(`${name}/package.json`, { type });
    write(`${name}/program.ts`, imports(name) + PROGRAM);
    await compile(name, module, resolution);
    const printed = await run(process.execPath, [`${name}/out/program.js`], environment);
    assert.deepEqual(JSON.parse(printed), [name, 'DEPT_NOT_FOUND', 404]);
  }
  const cjs = fs.readFileSync(path.join(folder, 'cjs/out/program.js'), 'utf8');
  assert.match(cjs, /require\("@banyan\/client"\)/);
});

test('the examples of the README compile and run', async () => {
  const text = fs.readFileSync(path.join(installed, 'README.md'), 'utf8');
  const examples = [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => String(code));
  assert.equal(examples.length, 7);
  write('readme/package.json', { type: 'module' });
  for (const [n, code] of examples.entries()) write(`readme/example${n}.ts`, code);
  await compile('readme', 'node16', 'node16');
  const printed: string[] = [];
  for (const n of examples.keys())
    printed.push(await run(process.execPath, [`readme/out/example${n}.js`], environment));
  const [create, errors, users, lists, files, changes, webhooks] = printed;
  assert.equal(create, '研发中心\n');
  assert.match(String(errors), /^404 The department does not exist/);
  assert.equal(users, 'store\nadmin\nremove\n');
  assert.match(String(lists), /^\d+ 研发中心$/m);
  assert.match(String(files), /^[1-9]\d*\n$/);
  assert.match(String(changes), /^created \S+ \d+\n$/);
  assert.equal(webhooks, '');
});

test('the package has only what it needs, and imports no other package', () => {
  const names = fs.readdirSync(installed, { recursive: true, encoding: 'utf8' });
  const sources = names.filter((name) => /\.(js|ts)$/.test(name));
  assert.ok(sources.length > 20);
  for (const name of sources) {
    const text = fs.readFileSync(path.join(installed, name), 'utf8');
    const imported = [...text.matchAll(/(?:from|require\(|import\()\s*['"]([^'"]+)['"]/g)].map(([, each]) =>
      String(each),
    );
    for (const each of imported) assert.match(each, /^\.{1,2}\/.*\.js$/, `${name} imports ${each}`);
    assert.doesNotMatch(text, /node:|\bprocess\.\w|\bBuffer\b|reference types=/, name);
  }
  const { dependencies, version, license } = JSON.parse(fs.readFileSync(path.join(installed, 'package.json'), 'utf8'));
  const service = JSON.parse(fs.readFileSync(path.join(project, 'package.json'), 'utf8'));
  assert.deepEqual([dependencies, version, license], [undefined, service.version, service.license]);
  assert.ok(names.includes('LICENSE'));
  assert.ok(!names.some((name) => /^src|tsconfig|\.built/.test(name)));
});

test('the package runs in a browser', async () => {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    // Chromium's sandbox refuses to run as root.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  try {
    const page = await browser.newPage();
    await page.goto(origin);
    // Pass a string and not a function: the compiler would rewrite the import.
    const result = await page.evaluate(`(async () => {
      const { createClient, isApiError } = await import('${origin}/dist/esm/main.js');
      const client = createClient({ baseUrl: '${service.base}', key: '${environment.BANYAN_KEY}' });
      const { id } = await client.createDepartment({ body: { deptName: '浏览器' } });
      const { data, etag } = await client.readDepartment({ id });
      const error = await client.readDepartment({ id: 7 }).catch((thrown) => thrown);
      let last = '';
      for await (const { change } of client.streamChanges()) {
        last = change.after?.deptName;
        if (change.resourceId === id) break;
      }
      return [data.deptName, etag !== null, isApiError(error, 'DEPT_NOT_FOUND'), last];
    })()`);
    assert.deepEqual(result, ['浏览器', true, true, '浏览器']);
  } finally {
    await browser.close();
  }
});
