import { SearchOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useEffect, useState } from 'react';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { wordsFor } from '../ui/notices.ts';
import { chartTexts } from './texts.ts';

/** Looks for a department by name, to begin the picture with it. */
export function FindRoot({ choose }: { choose: (id: string) => void }) {
  const t = useTexts(chartTexts);
  const [typed, setTyped] = useState('');
  const wanted = useSettled(typed.trim());
  const { data, isFetching, error } = useQuery({
    queryKey: ['dept-list', { deptName: wanted, withPath: true, pageSize: 20 }],
    queryFn: ({ signal }) => api.listDepartments({ deptName: wanted, withPath: true, pageSize: 20 }, signal),
    enabled: wanted !== '',
  });
  const rows = wanted && data ? data.data.rows : [];
  const hint = error ? wordsFor(error) : !wanted ? t.typeToFind : isFetching ? t.reading : t.nothingFound;
  return (
    <Select
      className="chart-find"
      aria-label={t.find}
      placeholder={t.findHint}
      suffixIcon={<SearchOutlined />}
      value={null}
      showSearch={{ filterOption: false, onSearch: setTyped, searchValue: typed }}
      loading={isFetching}
      notFoundContent={hint}
      options={rows.map(({ deptId, deptName, pathNames = [] }) => ({
        value: String(deptId),
        label: deptName,
        path: pathNames.join(' / ') || t.atTop,
      }))}
      optionRender={({ data: { label, path } }) => (
        <div className="chart-found">
          <span>{label}</span>
          <span className="quiet">{path}</span>
        </div>
      )}
      onSelect={(id) => {
        setTyped('');
        if (id) choose(id);
      }}
    />
  );
}

/** The value, when it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 200);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
