import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Select, Spin } from 'antd';
import { useEffect, useState } from 'react';
import { api } from '../api.ts';
import { texts, useTexts } from '../language.ts';
import { Mark } from './mark.tsx';
import { wordsFor } from './notices.ts';

const departmentSelectTexts = texts({
  zh: { placeholder: '输入名称搜索部门', none: '没有找到部门', disabled: '停用', top: '顶级部门' },
  en: { placeholder: 'Type to find a department', none: 'No department found', disabled: 'Disabled', top: 'Top level' },
});

interface Props {
  /** Given by Form.Item, or by hand. */
  id?: string;
  placeholder?: string;
  'aria-label'?: string;
  disabled?: boolean;
  className?: string;
  autoFocus?: boolean;
}

interface One extends Props {
  value?: number | null;
  onChange?: (deptId: number | null) => void;
}

interface Several extends Props {
  value?: number[];
  onChange?: (deptIds: number[]) => void;
}

/** One department of the own tenant, found by a part of its name: the service searches, so there may be 100,000. */
export function DepartmentSelect({ value, onChange, ...props }: One) {
  const { nameOf, ...select } = useDepartmentOptions(value == null ? [] : [value]);
  return (
    <Select<number>
      {...select}
      {...props}
      value={value ?? null}
      onChange={(chosen) => onChange?.(chosen ?? null)}
      labelRender={(chosen) => nameOf(chosen.value as number)}
      allowClear
    />
  );
}

/** The same, for any number of them. */
export function DepartmentsSelect({ value = [], onChange, ...props }: Several) {
  const { nameOf, ...select } = useDepartmentOptions(value);
  return (
    <Select<number[]>
      {...select}
      {...props}
      mode="multiple"
      value={value}
      onChange={(chosen) => onChange?.(chosen)}
      labelRender={(chosen) => nameOf(chosen.value as number)}
      allowClear
    />
  );
}

function useDepartmentOptions(chosen: number[]) {
  const t = useTexts(departmentSelectTexts);
  const [typed, setTyped] = useState('');
  const [open, setOpen] = useState(false);
  const deptName = useLater(typed.trim(), 200);
  const names = useDepartmentNames(chosen);
  const { data, error } = useQuery({
    queryKey: ['dept-list', 'select', deptName],
    queryFn: ({ signal }) =>
      api.listDepartments({ withPath: true, pageSize: 30, cursor: '', ...(deptName ? { deptName } : {}) }, signal),
    enabled: open,
  });
  // Nothing of an earlier search: who types and presses Enter at once would take what he did not mean.
  const searching = !error && (!data || typed.trim() !== deptName);
  const rows = searching ? [] : (data?.data.rows ?? []);
  return {
    nameOf: (id: number) => rows.find(({ deptId }) => deptId === id)?.deptName ?? names.get(id) ?? `#${id}`,
    placeholder: t.placeholder,
    showSearch: { filterOption: false, onSearch: setTyped },
    onOpenChange: setOpen,
    loading: open && searching,
    notFoundContent: searching ? <Spin size="small" /> : error ? wordsFor(error) : t.none,
    options: rows.map(({ deptId, deptName, pathNames = [], status }) => ({
      value: deptId,
      label: (
        <span className="department-option">
          <span>
            {deptName} {status === '1' && <Mark>{t.disabled}</Mark>}
          </span>
          <span className="quiet">{pathNames.join(' / ') || t.top}</span>
        </span>
      ),
    })),
  };
}

/** The names of departments of the own tenant. What is missing or not yet read has none. */
export function useDepartmentNames(ids: number[]): Map<number, string> {
  const wanted = [...new Set(ids)].sort((a, b) => a - b).slice(0, 500);
  const { data } = useQuery({
    queryKey: ['dept', 'names', wanted],
    queryFn: ({ signal }) => api.readDepartments(wanted, signal),
    placeholderData: keepPreviousData,
    enabled: wanted.length > 0,
  });
  return new Map(data?.data.rows.map(({ deptId, deptName }) => [deptId, deptName]));
}

/** The value once it has stood for a moment: not every letter is searched for. */
export function useLater<T>(value: T, milliseconds: number): T {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return later;
}
