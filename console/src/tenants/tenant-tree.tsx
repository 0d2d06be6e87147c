import { ApartmentOutlined } from '@ant-design/icons';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Button, Drawer, Grid } from 'antd';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Outlet, useNavigate, useParams } from 'react-router';
import { api, type TenantNode } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { getTenantState } from '../ui/tenant-period.ts';
import { tenantTexts } from '../ui/tenant-texts.ts';
import { TreeView } from '../ui/tree/tree-view.tsx';
import type { TreeRow } from '../ui/tree/types.ts';
import { readTenantPath } from './read-tenant-path.ts';
import { tenantsTexts } from './texts.ts';

/** Shows the tree next to the list and the detail screen; on small screens it is in a drawer. */
export function TenantTreeLayout() {
  const t = useTexts(tenantsTexts);
  const isWide = Grid.useBreakpoint().lg !== false;
  const [drawerOpen, setDrawerOpen] = useState(false);
  // The outlet has the same place in both layouts: a screen keeps its dialogs and inputs when the window is resized.
  return (
    <div className={isWide ? 'tenants-layout' : ''}>
      {isWide ? (
        <Card title={t.tree} className="tenants-tree">
          <TenantTree />
        </Card>
      ) : (
        <>
          <Button icon={<ApartmentOutlined />} className="margin-bottom" onClick={() => setDrawerOpen(true)}>
            {t.showTree}
          </Button>
          <Drawer title={t.tree} placement="left" size={320} open={drawerOpen} onClose={() => setDrawerOpen(false)}>
            <TenantTree onOpened={() => setDrawerOpen(false)} />
          </Drawer>
        </>
      )}
      <div className={isWide ? 'tenants-main' : ''}>
        <Outlet />
      </div>
    </div>
  );
}

type TenantRow = TreeRow<TenantNode, string>;

/** The children of an expanded tenant: undefined until they are loaded, with the error if that failed. */
interface Level {
  children: TenantNode[] | undefined;
  error: unknown;
}

function TenantTree({ onOpened }: { onOpened?: () => void }) {
  const t = useTexts(tenantsTexts);
  const { tenant: own } = useMe();
  const { id } = useParams();
  const navigate = useNavigate();
  const [expandedIds, setExpandedIds] = useState<string[]>([own.id]);
  const path = useQuery({
    queryKey: queryKeys.tenants.path(id),
    queryFn: ({ signal }) => readTenantPath(id as string, own.tenantId, signal),
    enabled: !!id && id !== own.id,
  });
  // Expand the ancestors of the tenant in the URL.
  useEffect(() => {
    const ancestorIds = path.data?.slice(0, -1).map((tenant) => tenant.id) ?? [];
    if (ancestorIds.length > 0) setExpandedIds((previous) => [...new Set([...previous, ...ancestorIds])]);
  }, [path.data]);
  // The current tenant is the root of the tree, so it is needed even while it is collapsed.
  const loadedIds = expandedIds.includes(own.id) ? expandedIds : [...expandedIds, own.id];
  const queries = useQueries({
    queries: loadedIds.map((rootId) => ({
      queryKey: queryKeys.tenants.children(rootId),
      queryFn: ({ signal }: { signal: AbortSignal }) => api.readTenantTree({ rootId, depth: 1 }, signal),
    })),
  });
  const root = queries[loadedIds.indexOf(own.id)];
  const rootNode = root?.data?.data;
  const levelsKey = queries.map(({ dataUpdatedAt, errorUpdatedAt }) => `${dataUpdatedAt}/${errorUpdatedAt}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: levelsKey stands for the queries, which are new on every render
  const rows = useMemo(() => {
    if (!rootNode) return [];
    const levels = new Map<string, Level>(
      expandedIds.map((rootId, index) => [
        rootId,
        { children: queries[index]?.data?.data.children, error: queries[index]?.error },
      ]),
    );
    return flattenTenants(rootNode, levels);
  }, [rootNode, expandedIds, levelsKey]);
  const toggle = useCallback(
    (node: TenantNode, expand: boolean) =>
      setExpandedIds((previous) => (expand ? [...previous, node.id] : previous.filter((other) => other !== node.id))),
    [],
  );
  const renderExtra = useCallback(
    (node: TenantNode) => <TenantNotes node={node} isOwn={node.id === own.id} />,
    [own.id],
  );
  if (!rootNode) return root?.error ? <LoadError error={root.error} onRetry={root.refetch} /> : <Loading />;
  return (
    <>
      <p className="secondary tenants-tree-hint">{t.treeHint}</p>
      <TreeView
        label={t.tree}
        rows={rows}
        selectedId={id}
        onOpen={(node) => {
          navigate(`/tenants/${node.id}`);
          onOpened?.();
        }}
        onToggle={toggle}
        onLoadMore={(parentId) => void queries[loadedIds.indexOf(parentId)]?.refetch()}
        renderExtra={renderExtra}
      />
    </>
  );
}

function flattenTenants(root: TenantNode, levels: ReadonlyMap<string, Level>): TenantRow[] {
  const rows: TenantRow[] = [];
  const addNode = (node: TenantNode, parentId: string, depth: number, position: number, setSize: number) => {
    const level = levels.get(node.id);
    rows.push({
      key: node.id,
      level: depth,
      parentId,
      kind: 'node',
      node,
      id: node.id,
      name: node.tenantName || node.tenantId,
      hasChildren: node.hasChildren,
      expanded: node.hasChildren && level !== undefined,
      position,
      setSize,
    });
    if (!node.hasChildren || !level) return;
    const childRow = { level: depth + 1, parentId: node.id };
    if (level.children)
      for (const [index, child] of level.children.entries())
        addNode(child, node.id, depth + 1, index + 1, level.children.length);
    else if (level.error) rows.push({ key: `${node.id}-error`, ...childRow, kind: 'error', error: level.error });
    else rows.push({ key: `${node.id}-loading`, ...childRow, kind: 'loading' });
  };
  addNode(root, '', 1, 1, 1);
  return rows;
}

function TenantNotes({ node, isOwn }: { node: TenantNode; isOwn: boolean }) {
  const t = useTexts(tenantsTexts);
  const states = useTexts(tenantTexts);
  const state = getTenantState(node);
  const notes = [isOwn && t.own, state !== 'active' && states[state]].filter(Boolean);
  if (notes.length === 0) return null;
  const text = notes.join(' · ');
  return (
    <small className={`tenants-tree-note tenants-period-${state}`} title={text}>
      {text}
    </small>
  );
}
