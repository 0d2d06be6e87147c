import { CaretRightOutlined, CheckSquareFilled, LoadingOutlined } from '@ant-design/icons';
import { Button, Tag } from 'antd';
import { memo } from 'react';
import { useTexts } from '../language.ts';
import { wordsFor } from '../ui/notices.ts';
import { departmentsTexts } from './texts.ts';
import type { TreeRow } from './tree-rows.ts';

interface Props {
  row: TreeRow;
  id: string;
  top: number;
  active: boolean;
  current: boolean;
  /** undefined: nothing can be marked here. */
  marked: boolean | undefined;
  drop: 'into' | 'before' | 'after' | 'refused' | undefined;
  /** Why it cannot be chosen. */
  refusal: string | undefined;
}

/** Deeper ones stand no further to the right: a tree has any depth, a screen has not. */
const DEEPEST_INDENT = 14;

/**
 * One line. Mouse and keys are the tree's: it finds the line by `data-key`, and what was meant by `data-act`. The focus
 * is the tree's, too; which line has it, aria-activedescendant says.
 */
export const TreeLine = memo(function TreeLine({ row, id, top, active, current, marked, drop, refusal }: Props) {
  const t = useTexts(departmentsTexts);
  const names = ['departments-row', active && 'is-active', current && 'is-current', drop && `drop-${drop}`];
  if (refusal) names.push('is-refused');
  const dept = row.kind === 'dept' ? row : undefined;
  return (
    <div
      role="treeitem"
      id={id}
      data-key={row.key}
      tabIndex={-1}
      className={names.filter(Boolean).join(' ')}
      style={{ top, paddingInlineStart: 8 + (Math.min(row.level, DEEPEST_INDENT) - 1) * 18 }}
      aria-level={row.level}
      aria-selected={current}
      aria-busy={row.kind === 'loading' ? true : undefined}
      aria-expanded={dept?.node.hasChildren ? dept.open : undefined}
      aria-posinset={dept?.position || undefined}
      aria-setsize={dept?.position ? dept.size : undefined}
      aria-checked={marked}
      aria-disabled={refusal ? true : undefined}
      title={refusal}
    >
      {row.kind === 'loading' && (
        <>
          <LoadingOutlined /> <span className="quiet">{t.loading}</span>
        </>
      )}
      {row.kind === 'failed' && <span className="departments-failed">{wordsFor(row.error)}</span>}
      {(row.kind === 'failed' || row.kind === 'more') && (
        <Button type="link" size="small" tabIndex={-1}>
          {row.kind === 'failed' ? t.again : t.more}
        </Button>
      )}
      {dept && (
        <>
          <span className={`departments-caret${dept.open ? ' is-open' : ''}`} aria-hidden data-act="toggle">
            {dept.node.hasChildren && <CaretRightOutlined />}
          </span>
          {marked !== undefined && (
            <span className={`departments-mark${marked ? ' is-marked' : ''}`} aria-hidden data-act="mark">
              {marked && <CheckSquareFilled />}
            </span>
          )}
          <span className="departments-name" title={dept.node.deptName}>
            {dept.node.deptName || t.unnamed(dept.node.deptId)}
          </span>
          {dept.node.status === '1' && <Tag variant="filled">{t.disabled}</Tag>}
        </>
      )}
    </div>
  );
});
