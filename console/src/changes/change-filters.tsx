import { DatePicker, Input, Select } from 'antd';
import { useTexts } from '../language.ts';
import { changeTexts } from '../ui/change-texts.ts';
import { FilterBar } from '../ui/filter-bar.tsx';
import { useDayjs } from '../ui/use-dayjs.ts';
import { useSearchText } from '../ui/use-search-text.ts';
import { type ChangesParams, RESOURCES, type Resource } from './params.ts';
import { TenantFilter } from './tenant-filter.tsx';
import { changesTexts } from './texts.ts';

interface Props {
  params: ChangesParams;
  setParams: (changes: Partial<ChangesParams>, options?: { replace?: boolean }) => void;
}

const DATE_FORMAT = 'YYYY-MM-DD';

export function ChangeFilters({ params, setParams }: Props) {
  const t = useTexts(changesTexts);
  const labels = useTexts(changeTexts);
  const [userName, setUserName] = useSearchText(params.by, (by) => setParams({ by }, { replace: true }), 300);
  const [from, to] = [useDayjs(params.from), useDayjs(params.to)];
  return (
    <FilterBar className="changes-filters">
      <Select<Resource | null>
        value={params.resource}
        onChange={(resource) => setParams({ resource: resource ?? null, resourceId: null })}
        placeholder={t.anyResource}
        aria-label={t.resource}
        allowClear
        options={RESOURCES.map((value) => ({ value, label: labels[value] }))}
      />
      <TenantFilter value={params.tenant} onChange={(tenant) => setParams({ tenant })} />
      <Input
        className="changes-user-filter"
        value={userName}
        onChange={(event) => setUserName(event.target.value)}
        placeholder={t.userNamePlaceholder}
        aria-label={t.userName}
        maxLength={50}
        allowClear
      />
      <DatePicker
        value={from}
        {...(to ? { maxDate: to } : {})}
        onChange={(day) => setParams({ from: day?.format(DATE_FORMAT) ?? null })}
        placeholder={t.startDate}
        aria-label={t.startDate}
      />
      <DatePicker
        value={to}
        {...(from ? { minDate: from } : {})}
        onChange={(day) => setParams({ to: day?.format(DATE_FORMAT) ?? null })}
        placeholder={t.endDate}
        aria-label={t.endDate}
      />
    </FilterBar>
  );
}
