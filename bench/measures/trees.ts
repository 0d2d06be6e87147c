import { alternate, type Measure, median } from '../measure.ts';
import { fillTenant } from '../organization.ts';
import { makeTenant } from '../services.ts';

const COUNT = 10_000;

/** The whole tree of ten thousand over HTTP, against the bare statement that reads the same rows, and JSON.stringify. */
export const trees: Measure = async (scene) => {
  const { place, service } = scene;
  const { tenantId, token } = await makeTenant(service.base);
  await fillTenant(place.superuser, tenantId, 12_000_000, COUNT);
  const timed = async <T>(work: () => Promise<string>, count: (found: T) => number) => {
    const times: number[] = [];
    for (let n = 0; n < 10; n++) {
      const began = performance.now();
      const text = await work();
      times.push(performance.now() - began);
      const found = count(JSON.parse(text));
      if (found !== COUNT) throw new Error(`${found} departments instead of ${COUNT}`);
    }
    return median(times);
  };
  // Both end with the text in hand: what its reader makes of it is in neither.
  const tree = async () => {
    const response = await fetch(`${service.base}/system/dept-api/tree`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return response.text();
  };
  const bare = async () =>
    JSON.stringify(
      await place.superuser`
        select dept_id as "deptId", coalesce(parent_id, 0) as "parentId", dept_name as "deptName",
          order_num as "orderNum", leader, status
        from banyan.departments where tenant_id = ${tenantId} and del_flag = '0'
        order by parent_id, order_num, dept_id`,
    );
  const result = await alternate(
    scene,
    'a tree against bare rows',
    () => timed<{ data: Node[] }>(tree, ({ data }) => countNodes(data, 0)),
    () => timed<Node[]>(bare, (rows) => rows.length),
  );
  return [
    {
      what: `Tree of ${COUNT} departments`,
      figure: result.ratio,
      unit: '× bare SQL and JSON.stringify',
      goal: { most: 2 },
      spread: result.spread,
      notes: `${median(result.ones).toFixed(1)} ms against ${median(result.others).toFixed(1)} ms, over HTTP`,
    },
  ];
};

interface Node {
  deptId: number;
  parentId: number;
  orderNum: number;
  children: Node[];
}

/** All below a department, each where it belongs and behind those that come before it. */
function countNodes(nodes: Node[], parentId: number): number {
  let count = 0;
  for (const [n, { deptId, orderNum, children, ...node }] of nodes.entries()) {
    const before = nodes[n - 1];
    if (node.parentId !== parentId) throw new Error(`${deptId} is told below ${parentId}`);
    if (before && before.orderNum > orderNum) throw new Error(`${deptId} is told behind ${before.deptId}`);
    count += 1 + countNodes(children, deptId);
  }
  return count;
}
