import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../../server/http/errors.ts';
import { createImportLimit, type ReserveMemory } from '../../server/imports/upload.ts';
import { csv, form, importFile } from '../support/import.ts';
import { startService } from '../support/service.ts';

const service = await startService();

test('imports of many tenants below one tenant leave room for those of others', async () => {
  const admin = await service.createTenant();
  const other = await service.createTenant();
  const file = csv([['部门路径'], ['a']]);
  const tenants = [admin];
  for (let n = 0; n < 16; n++) tenants.push(await service.createTenant({}, admin));
  // None of these requests sends its file.
  const requests = tenants.map(({ token }) => {
    const request = http.request(`${service.base}/system/dept-api/import?mode=preview`, {
      method: 'POST',
      agent: false,
      headers: { ...form(file).headers, 'content-length': 10_000, authorization: `Bearer ${token}` },
    });
    request.on('error', () => {});
    request.flushHeaders();
    return request;
  });
  const [response] = (await Promise.race(requests.map((request) => once(request, 'response')))) as [
    http.IncomingMessage,
  ];
  assert.equal(response.statusCode, 503, 'the tenants have no further slot');
  const { code, text } = await importFile(other, 'dept', 'preview', file);
  assert.equal(code, 200, text);
  for (const request of requests) request.destroy();
});

test('a file that needs more memory than an import may use is rejected, and an import that has ended takes none', async () => {
  const limited = await startService({}, { limits: { importBytes: 67_108_864 } });
  const tenant = await limited.createTenant();
  const fileOf = (rows: number) =>
    csv([['部门路径', '备注'], ...Array.from({ length: rows }, (_, n) => [`部门${n}`, 'x'.repeat(200_000)])]);
  const preview = async (rows: number) => (await importFile(tenant, 'dept', 'preview', fileOf(rows))).status;
  // A tenant gets 32 MB of the 64 MB. These files take 18 MB and 42 MB.
  assert.deepEqual([await preview(30), await preview(30), await preview(70), await preview(30)], [200, 200, 400, 200]);
});

test('memory is reserved for the errors that short rows may have, and at most ten errors of a row are kept', async () => {
  const limited = await startService({}, { limits: { importBytes: 67_108_864 } });
  const tenant = await limited.createTenant();
  const paths = Array.from({ length: 20 }, (_, n) => `缺${n}`).join(';');
  const preview = (rows: number) => {
    const users = Array.from({ length: rows }, (_, n) => [`user${n}`, paths]);
    return importFile(tenant, 'user', 'preview', csv([['用户名', '兼职部门'], ...users]));
  };
  const { code, data } = await preview(100);
  assert.equal(code, 200);
  assert.equal(data.errors, 100 * 20);
  assert.equal(data.table[0].errors.length, 10);
  const { status, msg } = await preview(15_000);
  assert.equal(status, 400, 'these rows may take more than 32 MB, although the file has 1.8 MB');
  assert.match(msg, /拆分文件/);
});

test('a tenant below another gets as much memory as that one; while another import takes some, the error is TOO_BUSY', async () => {
  const PORTION = 16_777_216;
  const limit = createImportLimit(9 * PORTION);
  const reply = { raw: new EventEmitter(), server: { timing: { streamQueueMs: 600_000 } } } as unknown as FastifyReply;
  const importOf = <T>(tenantId: string, topLevel: string, work: (reserveMemory: ReserveMemory) => Promise<T>) =>
    limit({ token: { tenantId } } as FastifyRequest, reply, topLevel, work);
  const portionsOf = (tenantId: string) =>
    importOf(tenantId, 'top', async (reserveMemory) => {
      for (let portions = 0; ; portions++) {
        try {
          reserveMemory(PORTION);
        } catch (error) {
          return { portions, code: (error as ApiError).code };
        }
      }
    });
  const alone = await portionsOf('top');
  assert.deepEqual(alone, { portions: 4, code: 'FILE_UNREADABLE' });
  assert.deepEqual(await portionsOf('child'), alone);
  await importOf('other', 'other', async (reserveMemory) => {
    reserveMemory(PORTION);
    assert.equal((await portionsOf('child')).code, 'TOO_BUSY');
  });
  assert.deepEqual(await portionsOf('child'), alone);
});
