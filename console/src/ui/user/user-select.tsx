import { useQuery } from '@tanstack/react-query';
import { Select, Spin } from 'antd';
import { useState } from 'react';
import { api, type User } from '../../api.ts';
import { defineTexts, useTexts } from '../../language.ts';
import { queryKeys } from '../../query-keys.ts';
import { useDebouncedValue } from '../use-debounced-value.ts';
import { getErrorMessage } from '../use-notify.ts';
import { getDisplayName } from './update-user.ts';

const userSelectTexts = defineTexts({
  zh: { placeholder: '输入姓名、用户名或手机号搜索', none: '未找到用户' },
  en: { placeholder: 'Search by name, user name or phone', none: 'No users found' },
});

interface Props {
  /** Set by Form.Item. */
  id?: string;
  value?: User[];
  onChange?: (users: User[]) => void;
}

const MAX_OPTIONS = 30;

/** Selects several users of the current tenant. The service does the search, because there can be 100,000. */
export function UserMultiSelect({ value = [], onChange, ...props }: Props) {
  const t = useTexts(userSelectTexts);
  const [searchText, setSearchText] = useState('');
  const [open, setOpen] = useState(false);
  const q = useDebouncedValue(searchText.trim(), 200);
  const filter = { ...(q ? { q } : {}), pageSize: MAX_OPTIONS };
  const { data, error } = useQuery({
    queryKey: queryKeys.users.list({ select: q }),
    queryFn: ({ signal }) => api.listUsers(filter, signal),
    enabled: open,
  });
  // Hide the results of the previous search: a quick Enter would select the wrong user.
  const searching = !error && (!data || searchText.trim() !== q);
  const rows = searching ? [] : (data?.data.rows ?? []);
  const known = new Map([...value, ...rows].map((user) => [user.userId, user]));
  return (
    <Select<number[]>
      {...props}
      mode="multiple"
      value={value.map(({ userId }) => userId)}
      onChange={(ids) => onChange?.(ids.flatMap((id) => known.get(id) ?? []))}
      placeholder={t.placeholder}
      showSearch={{ filterOption: false, onSearch: setSearchText }}
      onOpenChange={setOpen}
      loading={open && searching}
      notFoundContent={searching ? <Spin size="small" /> : error ? getErrorMessage(error) : t.none}
      labelRender={({ value }) => {
        const user = known.get(value as number);
        return user ? getDisplayName(user) : `#${value}`;
      }}
      options={rows.map((user) => ({
        value: user.userId,
        label: (
          <span className="department-option">
            <span>{getDisplayName(user)}</span>
            <span className="secondary">{[user.userName, user.position].filter(Boolean).join(' · ')}</span>
          </span>
        ),
      }))}
    />
  );
}
