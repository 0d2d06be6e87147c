/** Helpers for tests of the counts in trees. */

export interface Node {
  deptId: number;
  userCount?: number;
  branchUserCount?: number;
  children: Node[];
}

/** Returns the nodes of a tree as a list. */
export const flatten = (nodes: Node[]): Node[] => nodes.flatMap((node) => [node, ...flatten(node.children)]);

export const branchCountsOf = ({ rows }: { rows: Node[] }) => rows.map(({ branchUserCount }) => branchUserCount);
