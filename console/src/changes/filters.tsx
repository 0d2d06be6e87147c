import { DatePicker, Input, Select } from 'antd';
import { useEffect, useState } from 'react';
import { useTexts } from '../language.ts';
import { changeTexts } from '../ui/change-texts.ts';
import { useLater } from '../ui/department-select.tsx';
import { useMoment } from '../ui/moment.ts';
import type { Resource, Shown } from './address.ts';
import { TenantFilter } from './tenant-filter.tsx';
import { changesTexts } from './texts.ts';

interface Props {
  shown: Shown;
  show: (changes: Partial<Shown>, how?: { replace?: boolean }) => void;
}

const FORM = 'YYYY-MM-DD';

export function Filters({ shown, show }: Props) {
  const t = useTexts(changesTexts);
  const words = useTexts(changeTexts);
  const [typed, setTyped] = useState(shown.by);
  const by = useLater(typed.trim(), 300);
  // What is typed goes into the address after a moment; what comes from there, such as by going back, is shown.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the typing alone
  useEffect(() => {
    if (by !== shown.by) show({ by }, { replace: true });
  }, [by]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the address alone
  useEffect(() => {
    if (shown.by !== by) setTyped(shown.by);
  }, [shown.by]);
  const [from, to] = [useMoment(shown.from), useMoment(shown.to)];
  const resources: Resource[] = ['department', 'user', 'tenant', 'login', 'webhook'];
  return (
    <search className="changes-filters">
      <Select<Resource | null>
        value={shown.resource}
        onChange={(resource) => show({ resource: resource ?? null, resourceId: null })}
        placeholder={t.anyResource}
        aria-label={t.resource}
        allowClear
        options={resources.map((value) => ({ value, label: words[value] }))}
      />
      <TenantFilter value={shown.tenant} onChange={(tenant) => show({ tenant })} />
      <Input
        className="changes-by"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        placeholder={t.byPlaceholder}
        aria-label={t.by}
        maxLength={50}
        allowClear
      />
      <DatePicker
        value={from}
        {...(to ? { maxDate: to } : {})}
        onChange={(day) => show({ from: day?.format(FORM) ?? null })}
        placeholder={t.fromDay}
        aria-label={t.fromDay}
      />
      <DatePicker
        value={to}
        {...(from ? { minDate: from } : {})}
        onChange={(day) => show({ to: day?.format(FORM) ?? null })}
        placeholder={t.toDay}
        aria-label={t.toDay}
      />
    </search>
  );
}
