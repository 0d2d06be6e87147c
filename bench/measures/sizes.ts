import { type Context, median, type Tenant } from '../measure.ts';
import { fillTenant } from '../organization.ts';
import { plot, type Series } from '../plot.ts';
import { createTenant } from '../services.ts';
import { moveTimes } from './moves.ts';

/** Draws a chart of the time of one read and of one move of a subtree, by the size of the tenant. */
export async function drawSizes(context: Context): Promise<string> {
  const { database, service, load, small, large, progress, rounds, ms } = context;
  const middle: Tenant[] = [];
  for (const [n, count] of [10_000, 100_000].entries()) {
    const tenant = await createTenant(service.base);
    const firstId = 20_000_000 + n * 1_000_000;
    await fillTenant(database.superuser, tenant.tenantId, firstId, count);
    middle.push({ ...tenant, firstId, count });
  }
  const read: Series = { name: 'a read of one department (ms, one connection)', colour: '#1a7f5a', points: [] };
  const move: Series = { name: 'a move of a tenth of all departments (ms)', colour: '#b5541c', points: [] };
  for (const tenant of [small, ...middle, large]) {
    progress(`cost with ${tenant.count} departments`);
    const { token, firstId, count } = tenant;
    const request = { type: 'department', firstId, count } as const;
    const options = { base: service.base, token, request, connections: 1 };
    // Warm up the path cache, so that first-time path lookups do not count.
    await load.run({ ...options, connections: 64, ms });
    const reads: number[] = [];
    for (let round = 0; round < rounds; round++) reads.push((await load.run({ ...options, ms: 500 })).p50);
    read.points.push([count, median(reads)]);
    move.points.push([count, median(await moveTimes(context, tenant, firstId + 1, firstId + 5))]);
  }
  return plot('Cost of an operation by size of the tenant', 'departments in the tenant', 'ms', [read, move]);
}
