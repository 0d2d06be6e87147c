import { SearchOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useState } from 'react';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { searchDepartments } from '../ui/search-departments.ts';
import { useDebouncedValue } from '../ui/use-debounced-value.ts';
import { getErrorMessage } from '../ui/use-notify.ts';
import { chartTexts } from './texts.ts';

/** Searches for a department that becomes the root of the chart. */
export function RootSelect({ onSelect }: { onSelect: (id: string) => void }) {
  const t = useTexts(chartTexts);
  const [text, setText] = useState('');
  const keyword = useDebouncedValue(text.trim(), 200);
  const { data, isFetching, error } = useQuery({
    queryKey: queryKeys.departments.list({ chart: keyword }),
    queryFn: ({ signal }) => searchDepartments(keyword, { pageSize: 20 }, signal),
    enabled: keyword !== '',
  });
  const rows = keyword && data ? data.rows : [];
  const hint = error ? getErrorMessage(error) : !keyword ? t.searchHint : isFetching ? t.loading : t.noneFound;
  return (
    <Select
      className="chart-root-select"
      aria-label={t.findDepartment}
      placeholder={t.findPlaceholder}
      suffixIcon={<SearchOutlined />}
      value={null}
      showSearch={{ filterOption: false, onSearch: setText, searchValue: text }}
      loading={isFetching}
      notFoundContent={hint}
      options={rows.map(({ deptId, deptName, pathNames = [] }) => ({
        value: String(deptId),
        label: deptName,
        path: pathNames.join(' / ') || t.topLevel,
      }))}
      optionRender={({ data: { label, path } }) => (
        <div className="chart-search-result">
          <span>{label}</span>
          <span className="secondary">{path}</span>
        </div>
      )}
      onSelect={(id) => {
        setText('');
        if (id) onSelect(id);
      }}
    />
  );
}
