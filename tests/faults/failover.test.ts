import { test } from 'node:test';
import { defaultConnectionTiming } from '../../db/driver.ts';
import { takeRecentLog } from '../support/logs.ts';
import { startReplication } from '../support/replication.ts';
import { isLong } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/**
 * The long run has the service's own limits, except for a longer `waitMs`. Those of the everyday run suit a slow machine: no
 * result depends on how long something takes.
 */
const connectionTiming = isLong
  ? { ...defaultConnectionTiming, waitMs: 10_000 }
  : { hostMs: 5_000, checkMs: 500, waitMs: 5_000 };

test('a service uses the primary even if DATABASE_URL lists the standby first, and after a failover not the former primary', async () => {
  const { primary, standby, url } = await startReplication();
  const [first, second] = [primary, standby].map(({ port }) => `127.0.0.1:${port}`) as [string, string];
  const {
    root: admin,
    anonymous,
    ...service
  } = await startService(
    { DATABASE_URL: url.replace(`${first},${second}`, `${second},${first}`) },
    { connectionTiming },
  );
  const id = await admin.createDepartment({ deptName: 'before' });
  await standby.promote();
  // The service is not notified: its writes wait on the old primary until it finds the new one.
  await waitFor('a write succeeds', async () => (await admin.put('/system/dept-api', { deptId: id })).code === 200);
  // Now the new primary is unreachable and the old one is there: the service does not go back.
  // With test:long its network drops all packets. In the everyday run it refuses connections, which needs no timeout.
  if (isLong) standby.proxy.cutOff();
  else standby.proxy.close();
  await waitFor('nothing is answered with old data', async () => {
    const [ready, read] = await Promise.all([anonymous.get('/health/ready'), admin.get(`/system/dept-api/${id}`)]);
    return ready.data.reason === 'DATABASE_AWAY' && read.status === 503;
  });
  await waitFor('the former primary was refused', async () => {
    const isReported = takeRecentLog().some((line) => line.includes('it is a former primary, on timeline 1'));
    if (!isReported) await admin.get(`/system/dept-api/${id}`);
    return isReported;
  });
  await service.close();
});
