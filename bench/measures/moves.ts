import { alternate, type Context, type Measure, median, type Tenant } from '../measure.ts';
import { deepestDescendant, fieldsOf, parentIdOf } from '../organization.ts';
import { call } from '../services.ts';

/** Compares moves of a subtree of a hundred thousand departments with moves of a leaf, and measures a rejected cycle at depth 1,000. */
export const moves: Measure = async (context) => {
  const { large, service, rounds } = context;
  // With ten children each and a million departments in all, the subtree of the root's first child has 111,111.
  const [subtree, newParent] = [large.firstId + 1, large.firstId + 5];
  const leaf = large.firstId + large.count - 1;
  const moved = await alternate(
    context,
    'a subtree against a leaf',
    async () => median(await moveTimes(context, large, subtree, newParent)),
    async () => median(await moveTimes(context, large, leaf, newParent)),
  );
  const [top, deepest] = await createChain(context, 1_000);
  const rejected: number[] = [];
  // Round 0 is a warm-up and does not count.
  for (let round = 0; round <= rounds; round++) {
    context.progress(`a cycle at depth 1,000: round ${round} of ${rounds}`);
    const times: number[] = [];
    for (let n = 0; n < 20; n++) {
      const startedAt = performance.now();
      const change = put(context.writing.token, top, deepest, { deptName: 'top' });
      const response = await fetch(`${service.base}/system/dept-api`, change);
      const { data } = (await response.json()) as { data: { reason: string } };
      times.push(performance.now() - startedAt);
      if (data.reason !== 'DEPT_CYCLE') throw new Error(`the response to a cycle was ${JSON.stringify(data)}`);
    }
    if (round > 0) rejected.push(median(times));
  }
  return [
    {
      name: 'Move of a subtree of 111,111 against a leaf',
      figure: moved.ratio,
      unit: '× the leaf',
      goal: { most: 2 },
      range: moved.range,
      notes: `${median(moved.first).toFixed(1)} ms against ${median(moved.second).toFixed(1)} ms, over HTTP`,
    },
    {
      name: 'Rejection of a cycle at depth 1,000',
      figure: median(rejected),
      unit: 'ms',
      goal: { most: 10 },
      range: [Math.min(...rejected), Math.max(...rejected)],
      notes: 'the whole request, over HTTP',
    },
  ];
};

const put = (token: string, deptId: number, parentId: number, fields: object) => ({
  method: 'PUT',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ ...fields, deptId, parentId }),
});

/** Moves a department to another parent and back. Checks each move through the path of the deepest descendant. */
export async function moveTimes(
  { service }: Context,
  { token, firstId, count }: Tenant,
  deptId: number,
  newParent: number,
): Promise<number[]> {
  const parents = [newParent, parentIdOf(firstId, deptId)];
  const deepest = deepestDescendant(firstId, count, deptId);
  const times: number[] = [];
  for (let n = 0; n < 20; n++) {
    const parentId = parents[n % 2] as number;
    const startedAt = performance.now();
    const change = put(token, deptId, parentId, fieldsOf(deptId - firstId));
    const response = await fetch(`${service.base}/system/dept-api`, change);
    const text = await response.text();
    times.push(performance.now() - startedAt);
    if (!response.ok) throw new Error(text);
    const { data } = await call(service.base, 'GET', `/system/dept-api/${deepest}`, token);
    const path = `${data.ancestors},${deepest},`;
    if (!path.includes(`,${parentId},${deptId},`)) throw new Error(`${deptId} was not moved to ${parentId}: ${path}`);
  }
  return times;
}

async function createChain({ service, writing, database }: Context, depth: number): Promise<[number, number]> {
  const { headers } = await call(service.base, 'POST', '/system/dept-api', writing.token, { deptName: 'top' });
  const top = Number(headers.get('location')?.split('/').at(-1));
  await database.superuser`
    insert into banyan.departments (tenant_id, dept_id, parent_id, create_by)
    select ${writing.tenantId}, ${top}::bigint + n, ${top}::bigint + n - 1, 'bench' from generate_series(1, ${depth}::int) n`;
  await database.superuser`select setval('banyan.dept_serial', ${top + depth})`;
  return [top, top + depth];
}
