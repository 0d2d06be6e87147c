import { ApartmentOutlined } from '@ant-design/icons';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Button, Card, Drawer, Grid, Tree, type TreeDataNode } from 'antd';
import { useEffect, useState } from 'react';
import { Outlet, useNavigate, useParams } from 'react-router';
import { api, type TenantNode } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { wordsFor } from '../ui/notices.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { fieldTexts } from './field-texts.ts';
import { pathTo } from './path.ts';
import { standingOf } from './period.ts';
import { tenantsTexts } from './texts.ts';

/** The tree stays beside list and detail; on a phone it is a drawer. */
export function WithTree() {
  const t = useTexts(tenantsTexts);
  const wide = Grid.useBreakpoint().lg !== false;
  const [open, setOpen] = useState(false);
  if (!wide)
    return (
      <>
        <Button icon={<ApartmentOutlined />} className="gap-below" onClick={() => setOpen(true)}>
          {t.showTree}
        </Button>
        <Drawer title={t.tree} placement="left" size={320} open={open} onClose={() => setOpen(false)}>
          <TenantTree picked={() => setOpen(false)} />
        </Drawer>
        <Outlet />
      </>
    );
  return (
    <div className="tenants-layout">
      <Card size="small" title={<h2>{t.tree}</h2>} className="tenants-tree">
        <TenantTree />
      </Card>
      <div className="tenants-main">
        <Outlet />
      </div>
    </div>
  );
}

function TenantTree({ picked }: { picked?: () => void }) {
  const t = useTexts(tenantsTexts);
  const { tenant: own } = useMe();
  const { id } = useParams();
  const navigate = useNavigate();
  const [opened, setOpened] = useState<string[]>([own.id]);
  const path = useQuery({
    queryKey: ['tenant', id, 'path'],
    queryFn: ({ signal }) => pathTo(id as string, own.tenantId, signal),
    enabled: !!id && id !== own.id,
  });
  // A link to a tenant deep down opens the way to it.
  useEffect(() => {
    const above = path.data?.slice(0, -1).map((tenant) => tenant.id) ?? [];
    if (above.length > 0) setOpened((before) => [...new Set([...before, ...above])]);
  }, [path.data]);
  const levels = useQueries({
    queries: opened.map((rootId) => ({
      queryKey: ['tenant-tree', rootId],
      queryFn: ({ signal }: { signal: AbortSignal }) => api.readTenantTree({ rootId, depth: 1 }, signal),
    })),
    combine: (results) => new Map(results.map((result, at) => [opened[at], result])),
  });
  const top = levels.get(own.id);
  if (top?.error) return <Failed error={top.error} retry={top.refetch} />;
  if (!top?.data) return <Loading />;

  const shown = (node: TenantNode): TreeDataNode => {
    const level = levels.get(node.id);
    const below = level?.data?.data.children;
    return {
      key: node.id,
      title: <NodeTitle node={node} own={node.id === own.id} />,
      isLeaf: !node.hasChildren,
      ...(below ? { children: below.map(shown) } : {}),
      ...(level && !below ? { children: [waiting(node.id, level.error ? wordsFor(level.error) : t.searching)] } : {}),
    };
  };
  return (
    <>
      <p className="quiet tenants-hint">{t.treeHint}</p>
      <Tree
        aria-label={t.tree}
        blockNode
        height={560}
        treeData={[shown(top.data.data)]}
        expandedKeys={opened}
        selectedKeys={id ? [id] : []}
        onExpand={(keys) => setOpened(keys.map(String))}
        onSelect={(_, { node }) => {
          navigate(`/tenants/${node.key}`);
          picked?.();
        }}
      />
    </>
  );
}

const waiting = (id: string, title: string): TreeDataNode => ({
  key: `${id}-waiting`,
  title,
  isLeaf: true,
  selectable: false,
  disabled: true,
});

function NodeTitle({ node, own }: { node: TenantNode; own: boolean }) {
  const t = useTexts(tenantsTexts);
  const { disabled } = useTexts(fieldTexts);
  const standing = standingOf({ startTime: null, endTime: node.endTime });
  const notes = [
    own && t.own,
    node.status === '1' && disabled,
    standing === 'ended' && t.legendEnded,
    standing === 'soon' && t.legendSoon,
  ].filter(Boolean);
  return (
    <span className="tenants-node" title={node.tenantId}>
      <span>{node.tenantName || node.tenantId}</span>
      {notes.length > 0 && <small className={`tenants-note tenants-${standing}`}>{notes.join(' · ')}</small>}
    </span>
  );
}
