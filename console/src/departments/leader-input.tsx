import { useQuery } from '@tanstack/react-query';
import { AutoComplete, Form } from 'antd';
import { type KeyboardEvent, useState } from 'react';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useDebouncedValue } from '../ui/use-debounced-value.ts';
import type { DepartmentValues } from './department-fields.tsx';
import { departmentsTexts } from './texts.ts';

interface Props {
  /** Set by Form.Item. */
  id?: string;
  value?: string;
  onChange?: (leader: string) => void;
}

interface UserOption {
  value: string;
  userId: number;
  name: string;
}

const MAX_OPTIONS = 20;

/**
 * Input for the leader of a department: a user chosen from a search by name, or free text. The form field `leaderId` holds
 * the id of the user, or null for free text.
 */
export function LeaderInput({ value = '', onChange, ...props }: Props) {
  const t = useTexts(departmentsTexts);
  const form = Form.useFormInstance<DepartmentValues>();
  const [open, setOpen] = useState(false);
  // Enter selects an option only after an arrow key has moved to one. Otherwise it submits the form.
  const [moved, setMoved] = useState(false);
  const q = useDebouncedValue(value.trim(), 200);
  const { data } = useQuery({
    queryKey: queryKeys.users.list({ leader: q }),
    queryFn: ({ signal }) => api.listUsers({ q, pageSize: MAX_OPTIONS }, signal),
    enabled: open && q !== '',
  });
  const users = q !== '' && q === value.trim() ? (data?.data.rows ?? []) : [];
  const change = (text: string, option: Partial<UserOption> | Partial<UserOption>[]) => {
    const user = Array.isArray(option) ? undefined : option;
    form.setFieldValue('leaderId', user?.userId ?? null);
    onChange?.(user?.name ?? text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return setMoved(event.key === 'ArrowDown' || event.key === 'ArrowUp');
    if (!open || !moved || users.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <AutoComplete<string, UserOption>
      {...props}
      value={value}
      onChange={(text, option) => change(text ?? '', option ?? {})}
      onOpenChange={setOpen}
      onKeyDown={onKeyDown}
      defaultActiveFirstOption={false}
      maxLength={50}
      allowClear
      options={users.map(({ userId, userName, nickName }) => ({
        // Names are not unique. This value is replaced by the name at once.
        value: `user:${userId}`,
        userId,
        name: nickName || userName,
        label: (
          <span className="department-option">
            <span>{nickName || userName}</span>
            <span className="secondary">{t.userLabel(userName, userId)}</span>
          </span>
        ),
      }))}
    />
  );
}

/** Says whether the leader is a linked user or free text. */
export function LeaderHint() {
  const t = useTexts(departmentsTexts);
  const leaderId = Form.useWatch('leaderId', Form.useFormInstance<DepartmentValues>());
  return leaderId == null ? t.leaderHint : t.leaderLinked(leaderId);
}
