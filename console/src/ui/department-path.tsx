import { Link } from 'react-router';
import type { Dept } from '../api.ts';
import { useDepartmentNames, useDepartmentsById } from './record-names.ts';

/** A department and its ancestors, from the top down. */
export type DepartmentPath = { id: number; name: string }[];

const parseAncestors = (ancestors: string) => ancestors.split(',').map(Number).filter(Boolean);

/** Whether a department is `subtreeId` or one of its descendants. */
export const isWithin = ({ deptId, ancestors }: Dept, subtreeId: number): boolean =>
  deptId === subtreeId || parseAncestors(ancestors).includes(subtreeId);

/** The paths of departments of the current tenant by id. Departments that do not exist are missing. */
export function useDepartmentPaths(ids: number[]): Map<number, DepartmentPath> {
  const rows = useDepartmentsById(ids);
  const names = useDepartmentNames(rows.flatMap(({ ancestors }) => parseAncestors(ancestors)));
  return new Map(
    rows.map(({ deptId, deptName, ancestors }) => [
      deptId,
      [
        ...parseAncestors(ancestors).map((id) => ({ id, name: names.get(id) ?? '…' })),
        { id: deptId, name: deptName || `#${deptId}` },
      ],
    ]),
  );
}

interface LinkProps {
  path: DepartmentPath;
  /** How many names of the path are shown. */
  levels?: number;
  /** An ancestor: the path is shown from below it. */
  below?: number | undefined;
}

/** Links to a department. Shows the end of its path; the whole path is the tooltip. */
export function DepartmentLink({ path, levels = 1, below }: LinkProps) {
  const last = path.at(-1);
  if (!last) return null;
  // Index -1, if it is not an ancestor, leaves the path as it is.
  const relative = path.slice(path.findIndex(({ id }) => id === below) + 1);
  const text = relative
    .slice(-levels)
    .map(({ name }) => name)
    .join(' / ');
  return (
    <Link to={`/departments/${last.id}`} title={path.map(({ name }) => name).join(' / ')}>
      {relative.length > levels && levels > 1 ? `… / ${text}` : text}
    </Link>
  );
}
