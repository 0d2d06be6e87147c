import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Measure, Result } from '../measure.ts';
import type { ReadRequest } from '../read-process.ts';
import { call, createTenant } from '../services.ts';

const DEPTH = 20_000;
const FIRST = 30_000_000;
const IMPORTED = 100_000;

/**
 * Measures how long one large response or import keeps others waiting: the slowest response of a health check that is repeated over one
 * connection. It includes the check itself, so the event loop was blocked for less than that.
 */
export const pauses: Measure = async ({ database: { superuser }, service: { base }, rounds, progress }) => {
  const { tenantId, token } = await createTenant(base);
  const text = '规则'.repeat(32_000);
  const rules = { modelZr: text, modelPf: text, modelEd: text };
  for (let n = 0; n < 30; n++) await call(base, 'POST', '/system/tenant-api', token, { ruleBo: rules });
  await superuser`
    insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, create_by)
    select ${tenantId}, ${FIRST}::bigint + n, case when n > 1 then ${FIRST}::bigint + n - 1 end, '部门', 'bench'
    from generate_series(1, ${DEPTH}::int) n`;
  const lines = (line: (n: number) => string) => Array.from({ length: IMPORTED }, (_, n) => line(n)).join('\n');
  const pathOf = (n: number) => (n === 0 ? '总部' : n <= 100 ? `总部/分部${n % 100}` : `总部/分部${n % 100}/部门${n}`);
  const departments = `部门路径,负责人,联系电话\n${lines((n) => `${pathOf(n)},负责人${n},${13_000_000_000 + n}`)}`;
  const users = `用户名,姓名,手机号\n${lines((n) => `user${n},用户${n},${13_000_000_000 + n}`)}`;
  const invalid = `用户名,姓名,邮箱\n${lines((n) => `user${n},用户${n},x`)}`;
  const requests: [name: string, path: string, file?: string][] = [
    ['a page of tenants with ruleBo', '/system/tenant-api/list?pageSize=500&fields=ruleBo&cursor='],
    ['a page of the feed', '/system/change-api?limit=1000'],
    ['deep departments with paths', '/system/dept-api/list?pageSize=500&sort=-createTime&withPath=true&cursor='],
    ['a tree of 20,000 levels', '/system/dept-api/tree'],
    ['the same tree at an earlier time', `/system/dept-api/tree?asOf=${encodeURIComponent(new Date().toISOString())}`],
    [`a preview of ${IMPORTED} departments`, '/system/dept-api/import?mode=preview', departments],
    [`a preview of ${IMPORTED} users`, '/system/user-api/import?mode=preview', users],
    [`a report with ${IMPORTED} errors`, '/system/user-api/import?mode=preview&report=csv', invalid],
  ];
  const results: Result[] = [];
  // The reader runs in a separate process: receiving or sending megabytes would delay the health checks of this one.
  const reader = fork(fileURLToPath(new URL('../read-process.js', import.meta.url)), { execArgv: [] });
  for (const [name, path, file] of requests) {
    progress(name);
    const times: number[] = [];
    let bytes = 0;
    // Round 0 is a warm-up and does not count.
    for (let round = 0; round <= rounds; round++) {
      let done = false;
      const reading = once(reader, 'message').finally(() => {
        done = true;
      });
      reader.send({ base, path, token, file } satisfies ReadRequest);
      let slowest = 0;
      while (!done) slowest = Math.max(slowest, await checkHealth(base));
      [{ bytes }] = (await reading) as [{ bytes: number }];
      if (!(bytes > 0)) throw new Error(`the response to ${path} was not a success`);
      if (round > 0) times.push(slowest);
    }
    results.push({
      name: `Pause during ${name}`,
      figure: Math.max(...times),
      unit: 'ms',
      goal: { most: 50 },
      range: [Math.min(...times), Math.max(...times)],
      notes: `a response of ${(bytes / 1e6).toFixed(1)} MB`,
    });
  }
  reader.kill();
  return results;
};

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

const checkHealth = (base: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const request = http.get(`${base}/health/live`, { agent }, (response) => {
      response.resume();
      response.once('end', () => resolve(performance.now() - startedAt));
    });
    request.once('error', reject);
  });
