import { Button } from 'antd';
import type { User } from '../../api.ts';
import { useTexts } from '../../language.ts';
import { userTexts } from './texts.ts';
import { isMemberOf } from './update-user.ts';
import type { BulkAction } from './use-bulk-action.ts';
import './user.css';

interface Props {
  users: User[];
  /** The console does not read the departments of another tenant, so its users cannot be moved here. */
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
    <div className="user-selection" role="toolbar" aria-label={t.selectionActions}>
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
