import { useQuery } from '@tanstack/react-query';
import { Select, Spin } from 'antd';
import { useState } from 'react';
import { defineTexts, useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useDepartmentPaths } from './department-path.tsx';
import { searchDepartments } from './search-departments.ts';
import { StatusTag } from './status-tag.tsx';
import { useDebouncedValue } from './use-debounced-value.ts';
import { getErrorMessage } from './use-notify.ts';

const departmentSelectTexts = defineTexts({
  zh: { placeholder: '输入名称搜索部门', none: '未找到部门', disabled: '停用', topLevel: '顶级部门' },
  en: {
    placeholder: 'Search departments by name',
    none: 'No departments found',
    disabled: 'Disabled',
    topLevel: 'Top level',
  },
});

interface CommonProps {
  /** Set by Form.Item. */
  id?: string;
  placeholder?: string;
  'aria-label'?: string;
  disabled?: boolean;
  className?: string;
  autoFocus?: boolean;
}

interface SingleProps extends CommonProps {
  value?: number | null;
  onChange?: (deptId: number | null) => void;
}

interface MultipleProps extends CommonProps {
  value?: number[];
  onChange?: (deptIds: number[]) => void;
}

/** Selects a department of the current tenant. The selected one is shown with its path before its name. */
export function DepartmentSelect({ value, onChange, ...props }: SingleProps) {
  const { getPath, ...select } = useDepartmentOptions(value == null ? [] : [value]);
  return (
    <Select<number>
      {...select}
      {...props}
      value={value ?? null}
      onChange={(deptId) => onChange?.(deptId ?? null)}
      labelRender={({ value }) => <DepartmentLabel path={getPath(value as number)} />}
      allowClear
    />
  );
}

/** Selects several departments. */
export function DepartmentMultiSelect({ value = [], onChange, ...props }: MultipleProps) {
  const { getPath, ...select } = useDepartmentOptions(value);
  return (
    <Select<number[]>
      {...select}
      {...props}
      mode="multiple"
      value={value}
      onChange={(deptIds) => onChange?.(deptIds)}
      labelRender={({ value }) => {
        const path = getPath(value as number);
        return <span title={path.join(' / ')}>{path.at(-1)}</span>;
      }}
      allowClear
    />
  );
}

/** The path is truncated at its start: the nearest ancestors distinguish departments of the same name. */
function DepartmentLabel({ path }: { path: string[] }) {
  return (
    <span className="department-label" title={path.join(' / ')}>
      {path.length > 1 && <DepartmentPath path={path.slice(0, -1)} />}
      <span>{path.at(-1)}</span>
    </span>
  );
}

const DepartmentPath = ({ path }: { path: string[] }) => (
  <span className="secondary department-path">
    <bdi dir="ltr">{path.join(' / ')}</bdi>
  </span>
);

/** The options are search results of the service, because there can be 100,000 departments. An exact match comes first. */
function useDepartmentOptions(selectedIds: number[]) {
  const t = useTexts(departmentSelectTexts);
  const [searchText, setSearchText] = useState('');
  const [open, setOpen] = useState(false);
  const deptName = useDebouncedValue(searchText.trim(), 200);
  const paths = useDepartmentPaths(selectedIds);
  const { data, error } = useQuery({
    queryKey: queryKeys.departments.list({ select: deptName }),
    queryFn: ({ signal }) => searchDepartments(deptName, { pageSize: 30 }, signal),
    enabled: open,
  });
  // Hide the results of the previous search: a quick Enter would select the wrong department.
  const searching = !error && (!data || searchText.trim() !== deptName);
  const rows = searching ? [] : (data?.rows ?? []);
  const getPath = (id: number): string[] => {
    const row = rows.find(({ deptId }) => deptId === id);
    return paths.get(id)?.map(({ name }) => name) ?? (row ? [...(row.pathNames ?? []), row.deptName] : [`#${id}`]);
  };
  return {
    getPath,
    placeholder: t.placeholder,
    showSearch: { filterOption: false, onSearch: setSearchText },
    onOpenChange: setOpen,
    loading: open && searching,
    notFoundContent: searching ? <Spin size="small" /> : error ? getErrorMessage(error) : t.none,
    options: rows.map(({ deptId, deptName, pathNames = [], status }) => ({
      value: deptId,
      label: (
        <span className="department-option">
          <span>
            {deptName} {status === '1' && <StatusTag>{t.disabled}</StatusTag>}
          </span>
          {pathNames.length > 0 ? <DepartmentPath path={pathNames} /> : <span className="secondary">{t.topLevel}</span>}
        </span>
      ),
    })),
  };
}
