import { MoreOutlined } from '@ant-design/icons';
import { Button, Dropdown } from 'antd';
import { useRef } from 'react';
import type { User } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { inDialog } from '../ui/in-dialog.ts';
import { nameOf } from './person.ts';
import type { Kind, Task } from './task.ts';
import { peopleTexts } from './texts.ts';

interface Props {
  user: User;
  edit: (user: User) => void;
  act: (task: Task) => void;
  /** Departments of another tenant cannot be chosen from. */
  canMove: boolean;
}

export function PersonActions({ user, edit, act, canMove }: Props) {
  const t = useTexts(peopleTexts);
  const { user: me } = useMe();
  const button = useRef<HTMLButtonElement>(null);
  const self = user.userId === me.userId && user.tenantId === me.tenantId;
  const item = (kind: Kind, label: string, danger = false) => ({
    key: kind,
    label,
    danger,
    onClick: inDialog(() => act({ kind, people: [user], opener: button.current })),
  });
  const items = [
    ...(canMove ? [item('move', t.move)] : []),
    ...(self
      ? []
      : [
          item('password', t.password),
          user.status === '0' ? item('disable', t.disable) : item('enable', t.enable),
          { type: 'divider' as const },
          item('delete', t.remove, true),
        ]),
  ];
  return (
    <div className="people-actions">
      <Button type="link" size="small" onClick={() => edit(user)} aria-label={t.editOf(nameOf(user))}>
        {t.edit}
      </Button>
      {items.length > 0 && (
        <Dropdown trigger={['click']} menu={{ items }} autoFocus placement="bottomRight">
          <Button
            ref={button}
            type="text"
            size="small"
            icon={<MoreOutlined />}
            aria-label={t.moreOf(nameOf(user))}
            aria-haspopup="menu"
          />
        </Dropdown>
      )}
    </div>
  );
}
