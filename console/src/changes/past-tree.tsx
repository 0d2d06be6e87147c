import { ArrowLeftOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import dayjs from 'dayjs';
import { useMemo, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { api, type DeptNode } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import { Card } from '../ui/card.tsx';
import { DayPicker, endOfDay, formatDay, getToday, parsePastDay } from '../ui/day-picker.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { TreeView } from '../ui/tree/tree-view.tsx';
import type { TreeRow } from '../ui/tree/types.ts';
import { useUrlParams } from '../ui/use-url-params.ts';
import { pastTreeTexts } from './texts.ts';
import './changes.css';

/** The departments as they were at the end of a day, which is in the URL. */
export default function PastTree() {
  const t = useTexts(pastTreeTexts);
  return (
    <AdministratorsOnly title={t.title}>
      <div className="stack">
        <PageTitle title={t.title}>
          <Link to="/changes">
            <ArrowLeftOutlined aria-hidden /> {t.back}
          </Link>
        </PageTitle>
        <PastTreeContent />
      </div>
    </AdministratorsOnly>
  );
}

function PastTreeContent() {
  const t = useTexts(pastTreeTexts);
  const navigate = useNavigate();
  const [search, update] = useUrlParams();
  const day = parsePastDay(search.get('day')) ?? formatDay(dayjs().subtract(1, 'month'));
  /** The departments that were expanded or, at the top level, collapsed. */
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set());
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.departments.pastTree(day),
    queryFn: ({ signal }) => api.readTree(day === getToday() ? {} : { asOf: endOfDay(day) }, signal),
  });
  const rows = useMemo(() => flatten(data?.data ?? [], toggled, t.unnamed), [data, toggled, t]);
  const toggle = ({ deptId }: DeptNode) =>
    setToggled((previous) => {
      const next = new Set(previous);
      if (!next.delete(deptId)) next.add(deptId);
      return next;
    });
  return (
    <>
      <Card>
        <div className="page-actions">
          <DayPicker label={t.day} day={day} onChange={(next) => update({ day: next })} />
          <Link to={`/chart?day=${day}`}>{t.showAsChart}</Link>
        </div>
        <p className="secondary changes-hint">{t.hint(day)}</p>
      </Card>
      {error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty text={t.none} />
      ) : (
        <Card className="changes-past-tree">
          <TreeView
            rows={rows}
            label={t.tree(day)}
            selectedId={undefined}
            onOpen={({ deptId }) => navigate(`/departments/${deptId}`)}
            onToggle={toggle}
            onLoadMore={() => undefined}
            renderExtra={({ leader, status }) => (
              <>
                {leader && <span className="secondary">{leader}</span>}
                {status === '1' && <StatusTag>{t.disabled}</StatusTag>}
              </>
            )}
          />
        </Card>
      )}
    </>
  );
}

/** The visible rows from top to bottom; the top level is expanded. Iterative: a tree can be deeper than the call stack. */
function flatten(
  roots: readonly DeptNode[],
  toggled: ReadonlySet<number>,
  unnamed: (id: number) => string,
): TreeRow<DeptNode, number>[] {
  const rows: TreeRow<DeptNode, number>[] = [];
  const stack = rowsOf(roots, 1).reverse();
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row);
    if (row.kind === 'node' && row.expanded) stack.push(...rowsOf(row.node.children ?? [], row.level + 1).reverse());
  }
  return rows;

  function rowsOf(nodes: readonly DeptNode[], level: number): TreeRow<DeptNode, number>[] {
    return nodes.map((node, index) => ({
      key: `d${node.deptId}`,
      level,
      parentId: node.parentId,
      kind: 'node',
      node,
      id: node.deptId,
      name: node.deptName || unnamed(node.deptId),
      hasChildren: (node.children ?? []).length > 0,
      expanded: toggled.has(node.deptId) !== (level === 1) && (node.children ?? []).length > 0,
      position: index + 1,
      setSize: nodes.length,
    }));
  }
}
