import type { Tx } from '../../db/sql.ts';
import type { Dept } from '../departments/schema.ts';
import { countLetters } from '../http/letters.ts';
import { type Moment, readAbove } from './queries.ts';

/** The letters of most ids. */
const ID = 8;

/** What was above departments at a moment. */
export interface Paths {
  /** As `ancestors` shows it: from 0 down to the parent. */
  ancestors(parentId: number): string;
  /** From the top down to the parent. */
  names(parentId: number): string[];
}

/**
 * Derived from the tree as it was, never from the text that was noted with a department: the move of a department above
 * changes it, and leaves no change of its own for what is below.
 */
export async function pathsAbove(
  tx: Tx,
  tenantId: string,
  depts: readonly Pick<Dept, 'parentId'>[],
  moment: Moment,
): Promise<Paths> {
  const parents = [...new Set(depts.map(({ parentId }) => parentId))].filter((id) => id !== 0);
  const rows = parents.length > 0 ? await readAbove(tx, tenantId, parents, moment) : [];
  const above = new Map(rows.map((row) => [row.deptId, row]));
  const known = new Map<number, number[]>();
  const count = countLetters();
  const idsTo = (parentId: number): number[] => {
    const before = known.get(parentId);
    if (before) return before;
    const ids: number[] = [];
    for (let id = parentId; id !== 0; id = above.get(id)?.parentId ?? 0) {
      count(ID);
      ids.push(id);
    }
    ids.reverse();
    known.set(parentId, ids);
    return ids;
  };
  return {
    ancestors: (parentId) => {
      const ids = [0, ...idsTo(parentId)].join(',');
      count(ids.length);
      return ids;
    },
    names: (parentId) =>
      idsTo(parentId).map((id) => {
        const { deptName } = above.get(id) ?? { deptName: '' };
        count(deptName.length);
        return deptName;
      }),
  };
}
