import { SearchOutlined } from '@ant-design/icons';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Button, Input } from 'antd';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { searchDepartments, uniqueRows } from '../ui/search-departments.ts';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { useDebouncedValue } from '../ui/use-debounced-value.ts';
import { departmentsTexts } from './texts.ts';

interface Props {
  onSelect: (id: number) => void;
  /** Called with the text that is searched for; empty while the tree is shown. */
  onSearch?: (keyword: string) => void;
  /** The tree, shown while the search field is empty. */
  children: ReactNode;
}

/** A search field whose results replace the tree. Selecting a result shows the tree again. */
export function DepartmentSearch({ onSelect, onSearch, children }: Props) {
  const t = useTexts(departmentsTexts);
  const [text, setText] = useState('');
  const keyword = useDebouncedValue(text.trim(), 200);
  const searched = text.trim() && keyword;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the text has changed
  useEffect(() => onSearch?.(searched), [searched]);
  const container = useRef<HTMLDivElement>(null);
  const handleSelect = (id: number) => {
    setText('');
    onSelect(id);
  };
  const getFocusable = () => [
    ...(container.current?.querySelectorAll<HTMLElement>('input, button.departments-result') ?? []),
  ];
  const handleKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && text) {
      event.stopPropagation();
      setText('');
      getFocusable()[0]?.focus();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !text) return;
    event.preventDefault();
    const elements = getFocusable();
    elements[elements.indexOf(document.activeElement as HTMLElement) + step]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys move the focus between the field and the results
    <div ref={container} className="departments-search" onKeyDown={handleKeyDown}>
      <Input
        allowClear
        prefix={<SearchOutlined aria-hidden />}
        placeholder={t.search}
        aria-label={t.search}
        maxLength={100}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {searched ? <SearchResults keyword={searched} onSelect={handleSelect} /> : children}
    </div>
  );
}

function SearchResults({ keyword, onSelect }: { keyword: string; onSelect: Props['onSelect'] }) {
  const t = useTexts(departmentsTexts);
  // Page by cursor: with page numbers the service would also count all results.
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: queryKeys.departments.list({ search: keyword }),
    queryFn: ({ pageParam, signal }) => searchDepartments(keyword, { pageSize: 50, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  if (error) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const results = uniqueRows(data.pages.flatMap(({ rows }) => rows));
  if (results.length === 0) return <Empty text={t.noResults(keyword)} />;
  return (
    <ul className="departments-results" aria-label={t.searchResults}>
      {results.map(({ deptId, deptName, pathNames = [] }) => (
        <li key={deptId}>
          <button type="button" className="departments-result" onClick={() => onSelect(deptId)}>
            <span>{highlight(deptName, keyword)}</span>
            {pathNames.length > 0 && <span className="secondary">{pathNames.join(' / ')}</span>}
          </button>
        </li>
      ))}
      {hasNextPage && (
        <li>
          <Button type="link" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {t.moreResults}
          </Button>
        </li>
      )}
    </ul>
  );
}

function highlight(name: string, keyword: string): ReactNode {
  const start = name.toLowerCase().indexOf(keyword.toLowerCase());
  if (start < 0) return name;
  const end = start + keyword.length;
  return (
    <>
      {name.slice(0, start)}
      <mark>{name.slice(start, end)}</mark>
      {name.slice(end)}
    </>
  );
}
