import { Button } from 'antd';
import { useEffect, useRef } from 'react';
import type { User } from '../../api.ts';
import { useTexts } from '../../language.ts';
import { userTexts } from './texts.ts';
import { isMemberOf } from './update-user.ts';
import type { BulkAction } from './use-bulk-action.ts';
import './user.css';

interface Props {
  users: User[];
  /** False for the users of another tenant: the department picker offers only departments of the current one. */
  canMove: boolean;
  /** The department whose members are listed. They can leave it. */
  department?: BulkAction['department'];
  onAction: (action: BulkAction) => void;
  onClear: () => void;
}

export function SelectionToolbar({ users, canMove, department, onAction, onClear }: Props) {
  const t = useTexts(userTexts);
  const kinds = [
    ...(canMove ? (['move'] as const) : []),
    ...(department ? (['leave'] as const) : []),
    ...(['password', 'enable', 'disable', 'delete'] as const),
  ];
  // Those who belong only to departments below cannot leave this one.
  const leaving = department ? users.filter((user) => isMemberOf(user, department.deptId)) : [];
  return (
    <div ref={useHeightVariable()} className="user-selection" role="toolbar" aria-label={t.selectionActions}>
      <strong role="status">{t.selected(users.length)}</strong>
      {kinds.map((kind) => (
        <Button
          key={kind}
          danger={kind === 'delete'}
          disabled={kind === 'leave' && leaving.length === 0}
          onClick={({ currentTarget }) =>
            onAction({ kind, users: kind === 'leave' ? leaving : users, department, opener: currentTarget })
          }
        >
          {t[kind]}
        </Button>
      ))}
      <Button type="link" onClick={onClear}>
        {t.clearSelection}
      </Button>
    </div>
  );
}

/** Tells the table the height of the bar, below which its header sticks. In a narrow window, the bar has several lines. */
function useHeightVariable() {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = bar.current;
    const list = element?.parentElement;
    if (!list) return undefined;
    const observer = new ResizeObserver(() =>
      list.style.setProperty('--selection-height', `${element.offsetHeight}px`),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      list.style.removeProperty('--selection-height');
    };
  }, []);
  return bar;
}
