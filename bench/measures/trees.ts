import { alternate, type Measure, median } from '../measure.ts';
import { fillTenant } from '../organization.ts';
import { createTenant } from '../services.ts';

const COUNT = 10_000;

/** Compares a tree of ten thousand departments over HTTP with a plain query of the same rows and JSON.stringify. */
export const trees: Measure = async (context) => {
  const { database, service } = context;
  const { tenantId, token } = await createTenant(service.base);
  await fillTenant(database.superuser, tenantId, 12_000_000, COUNT);
  const timed = async <T>(work: () => Promise<string>, count: (found: T) => number) => {
    const times: number[] = [];
    for (let n = 0; n < 10; n++) {
      const startedAt = performance.now();
      const text = await work();
      times.push(performance.now() - startedAt);
      const found = count(JSON.parse(text));
      if (found !== COUNT) throw new Error(`${found} departments instead of ${COUNT}`);
    }
    return median(times);
  };
  // Both workloads end with the text; parsing it is not measured.
  const tree = async () => {
    const response = await fetch(`${service.base}/system/dept-api/tree`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return response.text();
  };
  const bare = async () =>
    JSON.stringify(
      await database.superuser`
        select dept_id as "deptId", coalesce(parent_id, 0) as "parentId", dept_name as "deptName",
          order_num as "orderNum", leader, status
        from banyan.departments where tenant_id = ${tenantId} and del_flag = '0'
        order by parent_id, order_num, dept_id`,
    );
  const result = await alternate(
    context,
    'a tree against a plain query',
    () => timed<{ data: Node[] }>(tree, ({ data }) => countNodes(data, 0)),
    () => timed<Node[]>(bare, (rows) => rows.length),
  );
  return [
    {
      name: `Tree of ${COUNT} departments`,
      figure: result.ratio,
      unit: '× bare SQL and JSON.stringify',
      goal: { most: 2 },
      range: result.range,
      notes: `${median(result.first).toFixed(1)} ms against ${median(result.second).toFixed(1)} ms, over HTTP`,
    },
  ];
};

interface Node {
  deptId: number;
  parentId: number;
  orderNum: number;
  children: Node[];
}

/** Counts the nodes of a subtree. Throws if one has the wrong parent or order. */
function countNodes(nodes: Node[], parentId: number): number {
  let count = 0;
  for (const [n, { deptId, orderNum, children, ...node }] of nodes.entries()) {
    const previous = nodes[n - 1];
    if (node.parentId !== parentId) throw new Error(`${deptId} has the parent ${node.parentId} instead of ${parentId}`);
    if (previous && previous.orderNum > orderNum) throw new Error(`${deptId} wrongly follows ${previous.deptId}`);
    count += 1 + countNodes(children, deptId);
  }
  return count;
}
