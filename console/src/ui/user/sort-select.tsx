import { Select } from 'antd';
import { useTexts } from '../../language.ts';
import { userTexts } from './texts.ts';
import { SORT_COLUMNS, type UserSort } from './user-sort.ts';

interface Props {
  value: UserSort | null;
  onChange: (sort: UserSort | null) => void;
}

/** Sorts a list of users on phones, where no table with headers is shown. */
export function SortSelect({ value, onChange }: Props) {
  const t = useTexts(userTexts);
  const names = { nickName: t.name, userName: t.userName, createTime: t.createTime };
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
