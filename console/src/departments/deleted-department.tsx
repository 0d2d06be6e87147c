import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { DeletedRecord } from '../ui/deleted-record.tsx';
import { ROOT_ID, type TreeStore } from '../ui/department/tree-store.ts';
import { LoadError, Loading } from '../ui/states.tsx';
import { departmentsTexts } from './texts.ts';

/** The service reads this many departments in one request. */
const MAX_BATCH = 500;

/**
 * Shown for a department that was not found. Links to its nearest existing ancestor, or back to the tree, and offers to restore it
 * if it was deleted.
 */
export function DeletedDepartment({ id, tree, error: readError }: { id: number; tree: TreeStore; error: unknown }) {
  const t = useTexts(departmentsTexts);
  const {
    data: nearest,
    error,
    refetch,
  } = useQuery({
    queryKey: queryKeys.departments.nearestAncestor(id),
    queryFn: async ({ signal }) => {
      const ancestors = tree.getAncestors(id).slice(0, MAX_BATCH);
      if (ancestors.length === 0) return null;
      // The response has the order of the request and omits deleted departments.
      return (await api.readDepartments(ancestors, signal)).data.rows[0] ?? null;
    },
    staleTime: 0,
  });
  useEffect(() => {
    // The tree still shows the deleted department.
    if (nearest !== undefined) void tree.reload(nearest?.deptId ?? ROOT_ID);
  }, [tree, nearest]);
  if (error) return <LoadError error={error} onRetry={refetch} />;
  if (nearest === undefined) return <Loading />;
  return (
    <DeletedRecord resource="department" id={id} error={readError}>
      {nearest ? (
        <Link to={`/departments/${nearest.deptId}`}>{t.goToParent(nearest.deptName || t.unnamed(nearest.deptId))}</Link>
      ) : (
        <Link to="/departments">{t.back}</Link>
      )}
    </DeletedRecord>
  );
}
