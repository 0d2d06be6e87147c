import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { AutoComplete } from 'antd';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useDebouncedValue } from '../ui/use-debounced-value.ts';
import { useSearchText } from '../ui/use-search-text.ts';
import type { ChangesParams } from './params.ts';
import { changesTexts } from './texts.ts';

interface Props {
  params: ChangesParams;
  setParams: (changes: Partial<ChangesParams>, options?: { replace?: boolean }) => void;
}

const MAX_RESULTS = 8;

/**
 * Filters by the person who made a change. Users are suggested by a part of their name; text that is not selected from the
 * suggestions is searched for as typed: API keys and deleted users have changes too.
 */
export function PersonFilter({ params, setParams }: Props) {
  const t = useTexts(changesTexts);
  const apply = (by: string) => by !== params.user && setParams({ by, user: null }, { replace: true });
  const [text, setText] = useSearchText(params.user ?? params.by, apply, 300);
  const keyword = useDebouncedValue(text.trim(), 200);
  const { data } = useQuery({
    queryKey: queryKeys.users.list({ q: keyword, pageSize: MAX_RESULTS }),
    queryFn: ({ signal }) => api.listUsers({ q: keyword, pageSize: MAX_RESULTS }, signal),
    placeholderData: keepPreviousData,
    enabled: keyword !== '' && keyword !== params.user,
  });
  const options = (keyword ? (data?.data.rows ?? []) : []).map(({ userName, nickName }) => ({
    value: userName,
    label: nickName ? `${nickName} ${userName}` : userName,
  }));
  return (
    <AutoComplete
      className="changes-user-filter"
      value={text}
      options={options}
      onChange={(value: string | undefined) => setText(value ?? '')}
      onSelect={(userName) => setParams({ user: userName ?? null, by: '' })}
      placeholder={t.userNamePlaceholder}
      aria-label={t.userName}
      maxLength={50}
      allowClear
    />
  );
}
