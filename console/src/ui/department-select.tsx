import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Select, Spin } from 'antd';
import { useState } from 'react';
import { api } from '../api.ts';
import { defineTexts, useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
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

/** Selects a department of the current tenant. The service does the search, because there can be 100,000. */
export function DepartmentSelect({ value, onChange, ...props }: SingleProps) {
  const { getName, ...select } = useDepartmentOptions(value == null ? [] : [value]);
  return (
    <Select<number>
      {...select}
      {...props}
      value={value ?? null}
      onChange={(deptId) => onChange?.(deptId ?? null)}
      labelRender={({ value }) => getName(value as number)}
      allowClear
    />
  );
}

/** Selects several departments. */
export function DepartmentMultiSelect({ value = [], onChange, ...props }: MultipleProps) {
  const { getName, ...select } = useDepartmentOptions(value);
  return (
    <Select<number[]>
      {...select}
      {...props}
      mode="multiple"
      value={value}
      onChange={(deptIds) => onChange?.(deptIds)}
      labelRender={({ value }) => getName(value as number)}
      allowClear
    />
  );
}

function useDepartmentOptions(selectedIds: number[]) {
  const t = useTexts(departmentSelectTexts);
  const [searchText, setSearchText] = useState('');
  const [open, setOpen] = useState(false);
  const deptName = useDebouncedValue(searchText.trim(), 200);
  const names = useDepartmentNames(selectedIds);
  const { data, error } = useQuery({
    queryKey: queryKeys.departments.list({ select: deptName }),
    queryFn: ({ signal }) => searchDepartments(deptName, { pageSize: 30 }, signal),
    enabled: open,
  });
  // Hide the results of the previous search: a quick Enter would select the wrong department.
  const searching = !error && (!data || searchText.trim() !== deptName);
  const rows = searching ? [] : (data?.rows ?? []);
  return {
    getName: (id: number) => rows.find(({ deptId }) => deptId === id)?.deptName ?? names.get(id) ?? `#${id}`,
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
          <span className="secondary">{pathNames.join(' / ') || t.topLevel}</span>
        </span>
      ),
    })),
  };
}

/** The names of departments of the current tenant by id. Unknown ids are missing. */
export function useDepartmentNames(ids: number[]): Map<number, string> {
  const uniqueIds = [...new Set(ids)].sort((a, b) => a - b).slice(0, 500);
  const { data } = useQuery({
    queryKey: queryKeys.departments.batch(uniqueIds),
    queryFn: ({ signal }) => api.readDepartments(uniqueIds, signal),
    placeholderData: keepPreviousData,
    enabled: uniqueIds.length > 0,
  });
  return new Map(data?.data.rows.map(({ deptId, deptName }) => [deptId, deptName]));
}
