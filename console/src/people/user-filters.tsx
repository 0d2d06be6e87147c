import { SearchOutlined } from '@ant-design/icons';
import { Checkbox, Input, Select } from 'antd';
import { useTexts } from '../language.ts';
import { DepartmentPicker } from '../ui/department/department-picker.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { DensityButton } from '../ui/list-settings.tsx';
import { useIsPhone } from '../ui/use-is-phone.ts';
import { useSearchText } from '../ui/use-search-text.ts';
import { userTexts } from '../ui/user/texts.ts';
import type { PeopleParams } from './params.ts';
import { SortSelect } from './sort-select.tsx';
import { peopleTexts } from './texts.ts';

interface Props {
  params: PeopleParams;
  setParams: (changes: Partial<PeopleParams>, options?: { replace?: boolean }) => void;
}

export function UserFilters({ params, setParams }: Props) {
  const t = useTexts(peopleTexts);
  const u = useTexts(userTexts);
  const isPhone = useIsPhone();
  const [text, setText] = useSearchText(params.q, (q) => setParams({ q, page: 1 }, { replace: true }));
  return (
    <FilterBar
      className="people-filters"
      activeCount={[params.deptId, params.status].filter((value) => value !== null).length}
      search={
        <Input
          value={text}
          onChange={(event) => setText(event.target.value)}
          prefix={<SearchOutlined />}
          placeholder={t.search}
          aria-label={t.search}
          maxLength={50}
          allowClear
          className="people-search"
        />
      }
    >
      {!params.tenantId && (
        <DepartmentPicker
          value={params.deptId}
          onChange={(deptId) => setParams({ deptId, page: 1 })}
          placeholder={t.anyDepartment}
          aria-label={t.department}
          className="people-department-filter"
        />
      )}
      {params.deptId !== null && (
        <Checkbox checked={!params.direct} onChange={(event) => setParams({ direct: !event.target.checked, page: 1 })}>
          {t.below}
        </Checkbox>
      )}
      <Select
        value={params.status}
        onChange={(status) => setParams({ status: status ?? null, page: 1 })}
        placeholder={t.anyStatus}
        aria-label={u.status}
        allowClear
        className="people-status-filter"
        options={[
          { value: '0', label: u.normal },
          { value: '1', label: u.disabled },
        ]}
      />
      {isPhone && <SortSelect value={params.sort} onChange={(sort) => setParams({ sort, page: 1 })} />}
      <DensityButton />
    </FilterBar>
  );
}
