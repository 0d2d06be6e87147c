import { MoreOutlined } from '@ant-design/icons';
import { Button, Dropdown } from 'antd';
import { useRef } from 'react';
import type { User } from '../../api.ts';
import { useTexts } from '../../language.ts';
import { useMe } from '../../session.ts';
import { openFromMenu } from '../open-from-menu.ts';
import { userTexts } from './texts.ts';
import { getDisplayName, isMemberOf } from './update-user.ts';
import type { BulkAction, BulkActionKind } from './use-bulk-action.ts';
import './user.css';

interface Props {
  user: User;
  onEdit: (user: User) => void;
  onAction: (action: BulkAction) => void;
  /** False for the users of another tenant: the department picker offers only departments of the current one. */
  canMove: boolean;
  /** The department whose members are listed. They can leave it. */
  department?: BulkAction['department'];
}

export function UserActions({ user, onEdit, onAction, canMove, department }: Props) {
  const t = useTexts(userTexts);
  const { user: me } = useMe();
  const button = useRef<HTMLButtonElement>(null);
  const isSelf = user.userId === me.userId && user.tenantId === me.tenantId;
  const item = (kind: BulkActionKind, label: string, danger = false) => ({
    key: kind,
    label,
    danger,
    onClick: openFromMenu(() => onAction({ kind, users: [user], department, opener: button.current })),
  });
  const items = [
    ...(canMove ? [item('move', t.move)] : []),
    ...(department && isMemberOf(user, department.deptId) ? [item('leave', t.leave)] : []),
    ...(isSelf
      ? []
      : [
          item('password', t.password),
          user.status === '0' ? item('disable', t.disable) : item('enable', t.enable),
          { type: 'divider' as const },
          item('delete', t.delete, true),
        ]),
  ];
  return (
    <div className="row-actions">
      <Button type="link" size="small" onClick={() => onEdit(user)} aria-label={t.editOf(getDisplayName(user))}>
        {t.edit}
      </Button>
      {items.length > 0 ? (
        <Dropdown trigger={['click']} menu={{ items }} autoFocus placement="bottomRight">
          <Button
            ref={button}
            type="text"
            size="small"
            icon={<MoreOutlined />}
            aria-label={t.moreOf(getDisplayName(user))}
            aria-haspopup="menu"
          />
        </Dropdown>
      ) : (
        <span className="row-actions-gap" />
      )}
    </div>
  );
}
