import { median, type Scene, type Tenant } from '../measure.ts';
import { fillTenant } from '../organization.ts';
import { plot, type Series } from '../plot.ts';
import { makeTenant } from '../services.ts';
import { moveTimes } from './moves.ts';

/** The milliseconds of one read, and of one move of a whole branch, at several sizes of a tenant: as a picture. */
export async function drawSizes(scene: Scene): Promise<string> {
  const { place, service, crowd, small, large, progress, rounds, ms } = scene;
  const middle: Tenant[] = [];
  for (const [n, count] of [10_000, 100_000].entries()) {
    const tenant = await makeTenant(service.base);
    const firstId = 20_000_000 + n * 1_000_000;
    await fillTenant(place.superuser, tenant.tenantId, firstId, count);
    middle.push({ ...tenant, firstId, count });
  }
  const read: Series = { name: 'a read of one department (ms, one caller)', colour: '#1a7f5a', points: [] };
  const move: Series = { name: 'a move of a tenth of all departments (ms)', colour: '#b5541c', points: [] };
  for (const tenant of [small, ...middle, large]) {
    progress(`the cost at ${tenant.count} departments`);
    const { token, firstId, count } = tenant;
    const ask = { what: 'department', firstId, count } as const;
    const order = { base: service.base, token, ask, connections: 1 };
    // Paths that are walked for the first time are no matter of size.
    await crowd.call({ ...order, connections: 64, ms });
    const reads: number[] = [];
    for (let round = 0; round < rounds; round++) reads.push((await crowd.call({ ...order, ms: 500 })).p50);
    read.points.push([count, median(reads)]);
    move.points.push([count, median(await moveTimes(scene, tenant, firstId + 1, firstId + 5))]);
  }
  return plot('What an operation costs, by the size of the tenant', 'departments in the tenant', 'ms', [read, move]);
}
