import { useTexts } from '../language.ts';
import { DepartmentPicker } from '../ui/department/department-picker.tsx';
import { chartTexts } from './texts.ts';

/** Selects the department that becomes the root of the chart. */
export function RootSelect({ onSelect }: { onSelect: (id: string) => void }) {
  const t = useTexts(chartTexts);
  return (
    <DepartmentPicker
      className="chart-root-select"
      aria-label={t.findDepartment}
      placeholder={t.findPlaceholder}
      value={null}
      onChange={(id) => id !== null && onSelect(String(id))}
    />
  );
}
