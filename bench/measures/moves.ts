import { alternate, type Measure, median, type Scene, type Tenant } from '../measure.ts';
import { deepestBelow, fieldsOf, parentIdOf } from '../organization.ts';
import { call } from '../services.ts';

/** A branch of a hundred thousand departments moved to and fro, against a leaf; and a cycle that is found at depth 1,000. */
export const moves: Measure = async (scene) => {
  const { large, service, rounds } = scene;
  // With ten children each and a million in all, the first below the top makes 111,111 with those below it.
  const [branch, home] = [large.firstId + 1, large.firstId + 5];
  const leaf = large.firstId + large.count - 1;
  const moved = await alternate(
    scene,
    'a branch against a leaf',
    async () => median(await moveTimes(scene, large, branch, home)),
    async () => median(await moveTimes(scene, large, leaf, home)),
  );
  const [top, deepest] = await makeChain(scene, 1_000);
  const refused: number[] = [];
  // The first round warms up, and does not count.
  for (let round = 0; round <= rounds; round++) {
    scene.progress(`a cycle at depth 1,000: round ${round} of ${rounds}`);
    const times: number[] = [];
    for (let n = 0; n < 20; n++) {
      const began = performance.now();
      const change = put(scene.writing.token, top, deepest, { deptName: 'top' });
      const response = await fetch(`${service.base}/system/dept-api`, change);
      const { data } = (await response.json()) as { data: { reason: string } };
      times.push(performance.now() - began);
      if (data.reason !== 'DEPT_CYCLE') throw new Error(`a cycle was answered ${JSON.stringify(data)}`);
    }
    if (round > 0) refused.push(median(times));
  }
  return [
    {
      what: 'Move of a branch of 111,111 against a leaf',
      figure: moved.ratio,
      unit: '× the leaf',
      goal: { most: 2 },
      spread: moved.spread,
      notes: `${median(moved.ones).toFixed(1)} ms against ${median(moved.others).toFixed(1)} ms, over HTTP`,
    },
    {
      what: 'A cycle refused at depth 1,000',
      figure: median(refused),
      unit: 'ms',
      goal: { most: 10 },
      spread: [Math.min(...refused), Math.max(...refused)],
      notes: 'the whole request, over HTTP',
    },
  ];
};

const put = (token: string, deptId: number, parentId: number, fields: object) => ({
  method: 'PUT',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ ...fields, deptId, parentId }),
});

/** Some moves to another place and back, each looked at from the deepest that moves along. */
export async function moveTimes(
  { service }: Scene,
  { token, firstId, count }: Tenant,
  deptId: number,
  away: number,
): Promise<number[]> {
  const places = [away, parentIdOf(firstId, deptId)];
  const deepest = deepestBelow(firstId, count, deptId);
  const times: number[] = [];
  for (let n = 0; n < 20; n++) {
    const place = places[n % 2] as number;
    const began = performance.now();
    const change = put(token, deptId, place, fieldsOf(deptId - firstId));
    const response = await fetch(`${service.base}/system/dept-api`, change);
    const answer = await response.text();
    times.push(performance.now() - began);
    if (!response.ok) throw new Error(answer);
    const { data } = await call(service.base, 'GET', `/system/dept-api/${deepest}`, token);
    const path = `${data.ancestors},${deepest},`;
    if (!path.includes(`,${place},${deptId},`)) throw new Error(`${deptId} was not moved to ${place}: ${path}`);
  }
  return times;
}

async function makeChain({ service, writing, place }: Scene, depth: number): Promise<[number, number]> {
  const { headers } = await call(service.base, 'POST', '/system/dept-api', writing.token, { deptName: 'top' });
  const top = Number(headers.get('location')?.split('/').at(-1));
  await place.superuser`
    insert into banyan.departments (tenant_id, dept_id, parent_id, create_by)
    select ${writing.tenantId}, ${top}::bigint + n, ${top}::bigint + n - 1, 'bench' from generate_series(1, ${depth}::int) n`;
  await place.superuser`select setval('banyan.dept_serial', ${top + depth})`;
  return [top, top + depth];
}
