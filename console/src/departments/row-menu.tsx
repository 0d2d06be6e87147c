import { Dropdown } from 'antd';
import type { Child, Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { openFromMenu } from '../ui/open-from-menu.ts';
import { departmentsTexts } from './texts.ts';

/** The row whose menu is open, and where it is. */
export interface OpenMenu {
  node: Child;
  rect: DOMRect;
}

export interface RowMenuActions {
  onOpen: (node: Child) => void;
  onCreateChild: (node: Child) => void;
  onEdit: (node: Child) => void;
  onMove: (node: Dept) => void;
  onDelete: (nodes: Dept[]) => void;
}

interface Props {
  menu: OpenMenu | undefined;
  actions: RowMenuActions;
  /** The id of the tree, which gets the focus back when the menu closes. */
  treeId: string;
  onClose: () => void;
}

/** The menu of a row of the tree. One menu serves all rows: there can be thousands. */
export function RowMenu({ menu, actions, treeId, onClose }: Props) {
  const t = useTexts(departmentsTexts);
  if (!menu) return null;
  const { node, rect } = menu;
  const close = () => {
    onClose();
    document.getElementById(treeId)?.focus();
  };
  const item = (key: string, label: string, run: () => void, danger = false) => ({
    key,
    label,
    danger,
    onClick: openFromMenu(() => {
      onClose();
      run();
    }),
  });
  const items = [
    item('members', t.showMembers, () => actions.onOpen(node)),
    ...(node.status === '0' ? [item('create', t.createChild, () => actions.onCreateChild(node))] : []),
    item('edit', t.edit, () => actions.onEdit(node)),
    item('move', t.move, () => actions.onMove(node)),
    { type: 'divider' as const },
    item('delete', t.delete, () => actions.onDelete([node]), true),
  ];
  return (
    <Dropdown
      open
      autoFocus
      trigger={['click']}
      menu={{ items, 'aria-label': t.actionsOf(node.deptName || t.unnamed(node.deptId)) }}
      placement="bottomRight"
      onOpenChange={(open) => open || close()}
    >
      <span
        className="departments-menu-anchor"
        style={{ top: rect.top, left: rect.right - 26, height: rect.height }}
        aria-hidden
      />
    </Dropdown>
  );
}
