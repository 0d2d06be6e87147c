/** What the tests of the counts in trees share. */

export interface Node {
  deptId: number;
  userCount?: number;
  branchUserCount?: number;
  children: Node[];
}

export const branchCountsOf = ({ rows }: { rows: Node[] }) => rows.map(({ branchUserCount }) => branchUserCount);
