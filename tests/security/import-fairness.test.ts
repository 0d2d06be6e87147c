import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
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
