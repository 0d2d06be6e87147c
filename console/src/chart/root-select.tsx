import { useTexts } from '../language.ts';
import { DepartmentSelect } from '../ui/department-select.tsx';
import { chartTexts } from './texts.ts';

/** Selects the department that becomes the root of the chart. */
export function RootSelect({ onSelect }: { onSelect: (id: string) => void }) {
  const t = useTexts(chartTexts);
  return (
    <DepartmentSelect
      className="chart-root-select"
      aria-label={t.findDepartment}
      placeholder={t.findPlaceholder}
      value={null}
      onChange={(id) => id !== null && onSelect(String(id))}
    />
  );
}
