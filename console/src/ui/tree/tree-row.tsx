import { CaretRightOutlined, CheckSquareFilled, LoadingOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { memo, type ReactNode } from 'react';
import { useTexts } from '../../language.ts';
import { uiTexts } from '../texts.ts';
import { getErrorMessage } from '../use-notify.ts';
import type { TreeRow, TreeRowButton } from './types.ts';

interface Props<Node, Id> {
  row: TreeRow<Node, Id>;
  id: string;
  top: number;
  active: boolean;
  selected: boolean;
  /** Undefined if the tree has no checkboxes. */
  checked: boolean | undefined;
  dropClass: string | undefined;
  /** Why the node cannot be selected. */
  disabledReason: string | undefined;
  loadMoreText: string;
  /** Rendered after the name. */
  renderExtra: ((node: Node) => ReactNode) | undefined;
  /** Read by screen readers after the name. */
  description: string | undefined;
  buttons: readonly TreeRowButton<Node>[] | undefined;
}

/** Deeper rows are not indented further: a tree can have any depth, the panel has a fixed width. */
const MAX_INDENT_LEVEL = 14;
const INDENT = 18;

/**
 * The tree handles all events: it finds the row by `data-key`, the action by `data-act` and a button by `data-button`. The keyboard
 * focus is on the tree, or on the field of a combobox, whose aria-activedescendant points to the active row.
 */
function TreeRowView<Node, Id>(props: Props<Node, Id>) {
  const { row, id, top, active, selected, checked, dropClass, disabledReason, loadMoreText } = props;
  const { renderExtra, description, buttons = [] } = props;
  const t = useTexts(uiTexts);
  const classes = ['tree-row', active && 'is-active', selected && 'is-selected', dropClass];
  if (disabledReason) classes.push('is-disabled');
  const indent = (Math.min(row.level, MAX_INDENT_LEVEL) - 1) * INDENT;
  const nodeRow = row.kind === 'node' ? row : undefined;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: a click on the row must leave the focus on the tree
    <div
      role="treeitem"
      id={id}
      data-key={row.key}
      className={classes.filter(Boolean).join(' ')}
      style={{ top, paddingInlineStart: 8 + indent }}
      aria-level={row.level}
      aria-selected={selected}
      aria-busy={row.kind === 'loading' ? true : undefined}
      aria-expanded={nodeRow?.hasChildren ? nodeRow.expanded : undefined}
      aria-posinset={nodeRow?.position || undefined}
      aria-setsize={nodeRow?.position ? nodeRow.setSize : undefined}
      aria-checked={checked}
      aria-disabled={disabledReason ? true : undefined}
      aria-description={description}
      title={disabledReason}
    >
      {indent > 0 && <span className="tree-guides" style={{ width: indent }} aria-hidden />}
      {row.kind === 'loading' && (
        <>
          <LoadingOutlined /> <span className="secondary">{t.loading}</span>
        </>
      )}
      {row.kind === 'error' && <span className="tree-error">{getErrorMessage(row.error)}</span>}
      {(row.kind === 'error' || row.kind === 'more') && (
        <Button type="link" size="small" tabIndex={-1}>
          {row.kind === 'error' ? t.retry : loadMoreText}
        </Button>
      )}
      {nodeRow && (
        <>
          <span className={`tree-caret${nodeRow.expanded ? ' is-expanded' : ''}`} aria-hidden data-act="toggle">
            {nodeRow.hasChildren && <CaretRightOutlined />}
          </span>
          {checked !== undefined && (
            <span className={`tree-checkbox${checked ? ' is-checked' : ''}`} aria-hidden data-act="check">
              {checked && <CheckSquareFilled />}
            </span>
          )}
          <span className="tree-label" title={nodeRow.name}>
            {nodeRow.name}
          </span>
          {renderExtra?.(nodeRow.node)}
          {buttons.map(({ key, icon, getLabel }) => {
            const label = getLabel(nodeRow.node, nodeRow.name);
            return (
              label && (
                <span
                  key={key}
                  className={`tree-button tree-button-${key}`}
                  data-button={key}
                  title={label}
                  aria-hidden
                >
                  {icon}
                </span>
              )
            );
          })}
        </>
      )}
    </div>
  );
}

export const MemoizedTreeRow = memo(TreeRowView) as typeof TreeRowView;
