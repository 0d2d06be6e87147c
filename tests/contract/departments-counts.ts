export interface Node {
  deptId: number;
  userCount?: number;
  branchUserCount?: number;
  children: Node[];
}

export const flatten = (nodes: Node[]): Node[] => nodes.flatMap((node) => [node, ...flatten(node.children)]);

export const branchCountsOf = ({ rows }: { rows: Node[] }) => rows.map(({ branchUserCount }) => branchUserCount);
