// Only with test:long: two third-party generators and a compiler take eight seconds; contract/client tests the client that is generated from the same document, and contract/openapi the document.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterFile } from '../support/cleanup.ts';
import { readDocument } from '../support/openapi.ts';
import { startService } from '../support/service.ts';

/**
 * Two independent generators make clients from the OpenAPI document. A TypeScript program uses them against the service: it
 * compiles only if departments, tenants, users, changes and errors have the types that the document promises.
 */

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-clients-'));
afterFile(() => fs.rmSync(folder, { recursive: true }));

const PROGRAM = `
import { ok } from '@oazapfts/runtime';
import { client } from './hey-api/client.gen.js';
import * as heyApi from './hey-api/index.js';
import * as oazapfts from './oazapfts.js';

const [baseUrl = '', token = ''] = process.argv.slice(2);
const idIn = (headers: Headers): string => headers.get('location')?.split('/').pop() ?? '';

async function useHeyApi() {
  client.setConfig({ baseUrl, auth: () => token });
  const created = await heyApi.createDepartment({ body: { deptName: '研发部', parentId: 0 } });
  const read = await heyApi.readDepartment({ path: { id: idIn(created.response.headers) }, throwOnError: true });
  const dept: heyApi.Department = read.data.data;
  const missing = await heyApi.readDepartment({ path: { id: '7' } });
  const reason: heyApi.ErrorCode | undefined = missing.error?.data.reason;
  const child = await heyApi.createTenant({ body: { tenantName: '上海分公司', accountCount: 5 } });
  const tenant: heyApi.Tenant = (
    await heyApi.readTenant({ path: { id: idIn(child.response.headers) }, throwOnError: true })
  ).data.data;
  const added = await heyApi.createUser({
    body: { userName: 'hey', password: 'correct horse battery', deptId: dept.deptId, roles: ['member'] },
  });
  const user: heyApi.User = (
    await heyApi.readUser({ path: { id: idIn(added.response.headers) }, throwOnError: true })
  ).data.data;
  const feed = await heyApi.readChanges({ query: { limit: 500 }, throwOnError: true });
  const names = feed.data.data.rows.flatMap((change): string[] =>
    // \`resource\` selects the type of the record.
    change.resource === 'department' && change.after ? [change.after.deptName] : [],
  );
  const quota: number = tenant.quotaBo.merchant;
  const roles: ('admin' | 'member')[] = user.roles;
  return { deptName: dept.deptName, reason, tenantName: tenant.tenantName, quota, userName: user.userName, roles, names };
}

async function useOazapfts() {
  oazapfts.defaults.baseUrl = baseUrl;
  oazapfts.defaults.headers = { authorization: \`Bearer \${token}\` };
  const location = (response: { headers: Headers }) => idIn(response.headers);
  const created = await oazapfts.createDepartment({ deptName: '市场部', parentId: 0 });
  const dept: oazapfts.Department = (await ok(oazapfts.readDepartment(location(created)))).data;
  const missing = await oazapfts.readDepartment('7');
  const reason: oazapfts.ErrorCode | undefined = missing.status === 404 ? missing.data.data.reason : undefined;
  const child = await oazapfts.createTenant({ tenantName: '北京分公司' });
  const tenant: oazapfts.Tenant = (await ok(oazapfts.readTenant(location(child)))).data;
  const added = await oazapfts.createUser({
    userName: 'oaz',
    password: 'correct horse battery',
    deptId: dept.deptId,
    roles: ['member'],
  });
  const user: oazapfts.User = (await ok(oazapfts.readUser(location(added)))).data;
  const feed = await ok(oazapfts.readChanges({ limit: 500 }));
  const names = feed.data.rows.flatMap((change): string[] =>
    change.resource === 'department' && change.after ? [change.after.deptName] : [],
  );
  const quota: number = tenant.quotaBo.merchant;
  const roles: ('admin' | 'member')[] = user.roles;
  return { deptName: dept.deptName, reason, tenantName: tenant.tenantName, quota, userName: user.userName, roles, names };
}

/** These must not compile: a client with types that accept anything would prove nothing. */
export const rejected = [
  // @ts-expect-error a department has no such field
  (dept: heyApi.Department) => dept.notAField,
  // @ts-expect-error a department has no such field
  (dept: oazapfts.Department) => dept.notAField,
  // @ts-expect-error the name of a department is a string
  () => heyApi.createDepartment({ body: { deptName: 7 } }),
  // @ts-expect-error the name of a department is a string
  () => oazapfts.createDepartment({ deptName: 7 }),
  // @ts-expect-error reading a department never returns this code
  (error: heyApi.ReadDepartmentErrors[404]) => error.data.reason === 'USER_NOT_FOUND',
];

console.log(JSON.stringify([await useHeyApi(), await useOazapfts()]));
`;

const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    outDir: 'out',
    rootDir: '.',
  },
  files: ['program.ts'],
};

const run = async (...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder }).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`);
  });
  return stdout;
};

test('clients that two generators make from the OpenAPI document compile and can call the service', async () => {
  const service = await startService();
  const admin = await service.createTenant();
  const write = (name: string, content: unknown) =>
    fs.writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  write('openapi.json', await readDocument(service));
  write('package.json', { type: 'module' });
  write('tsconfig.json', TSCONFIG);
  write('program.ts', PROGRAM);
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  await run(
    fileURLToPath(new URL('../support/client-generators.js', import.meta.url)),
    path.join(folder, 'openapi.json'),
    folder,
  );
  await run(path.join(root, 'node_modules/typescript/bin/tsc'), '-p', folder);
  const [heyApi, oazapfts] = JSON.parse(await run('out/program.js', service.base, String(admin.token)));
  const expected = { reason: 'DEPT_NOT_FOUND', quota: 0, roles: ['member'] };
  assert.deepEqual(heyApi, {
    ...expected,
    deptName: '研发部',
    tenantName: '上海分公司',
    userName: 'hey',
    names: ['研发部'],
  });
  assert.deepEqual(oazapfts, {
    ...expected,
    deptName: '市场部',
    tenantName: '北京分公司',
    userName: 'oaz',
    names: ['研发部', '市场部'],
  });
});
