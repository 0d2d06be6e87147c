import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { wordsFor } from '../ui/notices.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { departmentsTexts } from './texts.ts';
import { TOP, type TreeStore } from './tree-store.ts';

/** As many as one read takes. */
const MOST = 500;

/** Somebody deleted it, alone or with its branch: leads to the nearest above that is still there, else to the tree. */
export function Gone({ id, tree, why }: { id: number; tree: TreeStore; why: unknown }) {
  const t = useTexts(departmentsTexts);
  const {
    data: nearest,
    error,
    refetch,
  } = useQuery({
    queryKey: ['dept', 'above', id],
    queryFn: async ({ signal }) => {
      const above = tree.above(id).slice(0, MOST);
      if (above.length === 0) return null;
      // Answered in the order asked, without those that are gone too.
      return (await api.readDepartments(above, signal)).data.rows[0] ?? null;
    },
    staleTime: 0,
  });
  useEffect(() => {
    // The tree still shows what is not there.
    if (nearest !== undefined) void tree.reload(nearest?.deptId ?? TOP);
  }, [tree, nearest]);
  if (error) return <Failed error={error} retry={refetch} />;
  if (nearest === undefined) return <Loading />;
  const name = tree.node(id)?.deptName;
  return (
    <div className="state" role="alert">
      <p className="state-title">{name ? t.gone(name) : wordsFor(why)}</p>
      {nearest ? (
        <Link to={`/departments/${nearest.deptId}`}>{t.toAbove(nearest.deptName || t.unnamed(nearest.deptId))}</Link>
      ) : (
        <Link to="/departments">{t.back}</Link>
      )}
    </div>
  );
}
