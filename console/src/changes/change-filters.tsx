import { Button, DatePicker, Select } from 'antd';
import dayjs from 'dayjs';
import { useTexts } from '../language.ts';
import { changeTexts, getActionLabel } from '../ui/change-texts.ts';
import { FilterBar } from '../ui/filter-bar.tsx';
import { useDayjs } from '../ui/use-dayjs.ts';
import { type Action, type ChangesParams, getActions, RESOURCES, type Resource } from './params.ts';
import { PersonFilter } from './person-filter.tsx';
import { TenantFilter } from './tenant-filter.tsx';
import { changesTexts } from './texts.ts';

interface Props {
  params: ChangesParams;
  setParams: (changes: Partial<ChangesParams>, options?: { replace?: boolean }) => void;
}

const DATE_FORMAT = 'YYYY-MM-DD';
const daysAgo = (days: number) => dayjs().subtract(days, 'day').format(DATE_FORMAT);

export function ChangeFilters({ params, setParams }: Props) {
  const t = useTexts(changesTexts);
  const labels = useTexts(changeTexts);
  const [from, to] = [useDayjs(params.from), useDayjs(params.to)];
  const labelOf = (action: Action) => getActionLabel(labels, action);
  const presets: [string, string][] = [
    [t.today, daysAgo(0)],
    [t.week, daysAgo(6)],
    [t.month, daysAgo(29)],
  ];
  return (
    <FilterBar className="changes-filters">
      <Select<Resource | null>
        value={params.resource}
        onChange={(resource = null) => {
          const isOffered = params.action !== null && getActions(resource).includes(params.action);
          setParams({ resource, resourceId: null, action: isOffered ? params.action : null });
        }}
        placeholder={t.anyResource}
        aria-label={t.resource}
        allowClear
        options={RESOURCES.map((value) => ({ value, label: labels[value] }))}
      />
      <Select<Action | null>
        value={params.action}
        onChange={(action) => setParams({ action: action ?? null })}
        placeholder={t.anyAction}
        aria-label={t.action}
        allowClear
        options={getActions(params.resource).map((value) => ({ value, label: labelOf(value) }))}
      />
      <TenantFilter value={params.tenant} onChange={(tenant) => setParams({ tenant })} />
      <PersonFilter params={params} setParams={setParams} />
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
      <fieldset className="changes-presets" aria-label={t.presets}>
        {presets.map(([name, start]) => (
          <Button
            key={start}
            size="small"
            aria-pressed={params.from === start && params.to === null}
            type={params.from === start && params.to === null ? 'primary' : 'default'}
            onClick={() => setParams({ from: start, to: null })}
          >
            {name}
          </Button>
        ))}
      </fieldset>
    </FilterBar>
  );
}
