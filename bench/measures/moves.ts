import { alternate, type Measure, median, type Scene, type Tenant } from '../measure.ts';
import { call } from '../services.ts';

/** A branch of a hundred thousand departments moved to and fro, against a leaf; and a cycle that is found at depth 1,000. */
export const moves: Measure = async (scene) => {
  const { large, service } = scene;
  // With ten children each and a million in all, the first has 111,111 below it.
  const [branch, home] = [large.firstId, large.firstId + 5];
  const leaf = large.firstId + large.count - 1;
  const leafHome = large.firstId + Math.floor((large.count - 1) / 10) - 1;
  const moved = await alternate(
    scene,
    'a branch against a leaf',
    async () => median(await moveTimes(scene, large, branch, [home, 0])),
    async () => median(await moveTimes(scene, large, leaf, [home, leafHome])),
  );
  scene.progress('a cycle at depth 1,000');
  const [top, deepest] = await makeChain(scene, 1_000);
  const refused: number[] = [];
  for (let n = 0; n < 50; n++) {
    const began = performance.now();
    const response = await fetch(`${service.base}/system/dept-api`, put(scene.writing.token, top, deepest));
    const { data } = (await response.json()) as { data: { reason: string } };
    refused.push(performance.now() - began);
    if (data.reason !== 'DEPT_CYCLE') throw new Error(`a cycle was answered ${JSON.stringify(data)}`);
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

const put = (token: string, deptId: number, parentId: number) => ({
  method: 'PUT',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ deptId, parentId, deptName: 'moved' }),
});

/** Some moves to one place and back. */
export async function moveTimes(
  { service }: Scene,
  { token }: Tenant,
  deptId: number,
  places: number[],
): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < 20; n++) {
    const began = performance.now();
    const response = await fetch(`${service.base}/system/dept-api`, put(token, deptId, places[n % 2] as number));
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
    times.push(performance.now() - began);
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
