import { Button } from 'antd';
import type { User } from '../../api.ts';
import { useTexts } from '../../language.ts';
import { userTexts } from './texts.ts';
import type { BulkAction, BulkActionKind } from './use-bulk-action.ts';
import './user.css';

interface Props {
  users: User[];
  /** The console does not read the departments of another tenant, so its users cannot be moved here. */
  canMove: boolean;
  onAction: (action: BulkAction) => void;
  onClear: () => void;
}

export function SelectionToolbar({ users, canMove, onAction, onClear }: Props) {
  const t = useTexts(userTexts);
  const labels = { move: t.move, password: t.password, enable: t.enable, disable: t.disable, delete: t.delete };
  const kinds: BulkActionKind[] = [...(canMove ? (['move'] as const) : []), 'password', 'enable', 'disable', 'delete'];
  return (
    <div className="user-selection" role="toolbar" aria-label={t.selectionActions}>
      <strong role="status">{t.selected(users.length)}</strong>
      {kinds.map((kind) => (
        <Button
          key={kind}
          danger={kind === 'delete'}
          onClick={({ currentTarget }) => onAction({ kind, users, opener: currentTarget })}
        >
          {labels[kind]}
        </Button>
      ))}
      <Button type="link" onClick={onClear}>
        {t.clearSelection}
      </Button>
    </div>
  );
}
