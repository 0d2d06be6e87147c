import { SearchOutlined } from '@ant-design/icons';
import { Input, Select } from 'antd';
import { useEffect, useState } from 'react';
import { useTexts } from '../language.ts';
import { DepartmentSelect, useLater } from '../ui/department-select.tsx';
import type { Shown } from './address.ts';
import { peopleTexts } from './texts.ts';

interface Props {
  shown: Shown;
  show: (changes: Partial<Shown>, how?: { replace?: boolean }) => void;
}

export function Filters({ shown, show }: Props) {
  const t = useTexts(peopleTexts);
  const [typed, setTyped] = useState(shown.q);
  const q = useLater(typed.trim(), 250);
  // What is typed goes into the address after a moment; what comes from there, such as by going back, is shown.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the typing alone
  useEffect(() => {
    if (q !== shown.q) show({ q, page: 1 }, { replace: true });
  }, [q]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the address alone
  useEffect(() => {
    if (shown.q !== q) setTyped(shown.q);
  }, [shown.q]);
  return (
    <search className="people-filters">
      <Input
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        prefix={<SearchOutlined />}
        placeholder={t.search}
        aria-label={t.search}
        maxLength={50}
        allowClear
        className="people-search"
      />
      {!shown.tenantId && (
        <DepartmentSelect
          value={shown.deptId}
          onChange={(deptId) => show({ deptId, page: 1 })}
          placeholder={t.anyDepartment}
          aria-label={t.department}
          className="people-by-department"
        />
      )}
      <Select
        value={shown.status}
        onChange={(status) => show({ status: status ?? null, page: 1 })}
        placeholder={t.anyStatus}
        aria-label={t.status}
        allowClear
        className="people-by-status"
        options={[
          { value: '0', label: t.normal },
          { value: '1', label: t.disabled },
        ]}
      />
    </search>
  );
}
