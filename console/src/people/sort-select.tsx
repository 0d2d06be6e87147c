import { Select } from 'antd';
import { useTexts } from '../language.ts';
import { userTexts } from '../ui/user/texts.ts';
import { SORT_COLUMNS, type UserSort } from '../ui/user/user-sort.ts';
import { peopleTexts } from './texts.ts';

interface Props {
  value: UserSort | null;
  onChange: (sort: UserSort | null) => void;
}

/** Sorts the list on phones, where no table with headers is shown. */
export function SortSelect({ value, onChange }: Props) {
  const t = useTexts(peopleTexts);
  const u = useTexts(userTexts);
  const names = { nickName: u.name, userName: u.userName, createTime: u.createTime };
  return (
    <Select<UserSort | null>
      value={value}
      onChange={(sort) => onChange(sort ?? null)}
      placeholder={t.defaultSort}
      aria-label={t.sort}
      allowClear
      options={SORT_COLUMNS.flatMap((column) => [
        { value: column, label: t.ascending(names[column]) },
        { value: `-${column}` as const, label: t.descending(names[column]) },
      ])}
    />
  );
}
