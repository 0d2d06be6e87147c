import { useTexts } from '../language.ts';
import { endOfDay } from '../ui/day-picker.tsx';
import { DepartmentPicker } from '../ui/department/department-picker.tsx';
import { chartTexts } from './texts.ts';

interface Props {
  /** Offers the departments at the end of this day; undefined: the current ones. */
  day: string | undefined;
  onSelect: (id: string) => void;
}

export function RootSelect({ day, onSelect }: Props) {
  const t = useTexts(chartTexts);
  return (
    <DepartmentPicker
      className="chart-root-select"
      aria-label={t.findDepartment}
      placeholder={t.findPlaceholder}
      asOf={day && endOfDay(day)}
      value={null}
      onChange={(id) => id !== null && onSelect(String(id))}
    />
  );
}
