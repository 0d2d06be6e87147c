import { Checkbox } from 'antd';
import { useTexts } from '../language.ts';
import { DepartmentPicker } from '../ui/department/department-picker.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { DensityButton } from '../ui/list-settings.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { useIsPhone } from '../ui/use-is-phone.ts';
import { SortSelect } from '../ui/user/sort-select.tsx';
import { StatusSelect } from '../ui/user/status-select.tsx';
import type { PeopleParams } from './params.ts';
import { peopleTexts } from './texts.ts';

interface Props {
  params: PeopleParams;
  setParams: (changes: Partial<PeopleParams>, options?: { replace?: boolean }) => void;
}

export function UserFilters({ params, setParams }: Props) {
  const t = useTexts(peopleTexts);
  const isPhone = useIsPhone();
  return (
    <FilterBar
      className="people-filters"
      activeCount={[params.deptId, params.status].filter((value) => value !== null).length}
      search={
        <SearchField
          label={t.search}
          value={params.q}
          onSearch={(q) => setParams({ q, page: 1 }, { replace: true })}
          maxLength={50}
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
      <StatusSelect
        value={params.status}
        onChange={(status) => setParams({ status, page: 1 })}
        className="people-status-filter"
      />
      {isPhone && <SortSelect value={params.sort} onChange={(sort) => setParams({ sort, page: 1 })} />}
      <DensityButton />
    </FilterBar>
  );
}
