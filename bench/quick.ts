import { startCrowd } from './crowd.ts';
import { fillTenant } from './organization.ts';
import { call, cpuSeconds, makePlace, makeTenant, startBare, startService } from './services.ts';

const count = Number(process.argv[2] ?? 100_000);
const rounds = Number(process.argv[3] ?? 3);
const place = await makePlace();
const service = await startService(place.databaseUrl, {
  BANYAN_LOG_LEVEL: process.argv[4] ?? 'info',
  BANYAN_ACCESS_TOKEN_SECONDS: '86400',
});
const { tenantId, token } = await makeTenant(service.base);
await fillTenant(place.superuser, tenantId, 1_000_000, count);
const { text } = await call(service.base, 'GET', `/system/dept-api/${1_000_000 + count - 1}`, token);
const bare = await startBare(text);
const crowd = startCrowd();
const measure = async (name: string, pid: number, order: Parameters<typeof crowd.call>[0]) => {
  await crowd.call({ ...order, ms: 500 });
  const before = cpuSeconds(pid);
  const figures = await crowd.call(order);
  const cpu = ((cpuSeconds(pid) - before) / figures.answers) * 1e6;
  console.log(
    name.padEnd(10),
    `${figures.aSecond.toFixed(0)}/s`,
    `p50 ${figures.p50.toFixed(1)}`,
    `p99 ${figures.p99.toFixed(1)}`,
    `cpu ${cpu.toFixed(1)} us`,
  );
};
for (let round = 0; round < rounds; round++) {
  const all = { connections: 64, ms: 3_000 };
  await measure('bare', bare.pid, { base: bare.base, ask: { what: 'path', path: '/constant' }, ...all });
  await measure('version', service.pid, { base: service.base, ask: { what: 'path', path: '/version' }, ...all });
  await measure('read', service.pid, {
    base: service.base,
    token,
    ask: { what: 'department', firstId: 1_000_000, count },
    ...all,
  });
}
crowd.stop();
await bare.stop();
await service.stop();
await place.close();
process.exit();
