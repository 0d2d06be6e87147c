import { Button, DatePicker } from 'antd';
import dayjs, { type Dayjs } from 'dayjs';
import { useTexts } from '../language.ts';
import { useDayjs } from '../ui/use-dayjs.ts';
import { formatTime } from './key-values.ts';
import { keyFormTexts } from './texts.ts';

interface Props {
  value?: string | null;
  onChange?: (time: string | null) => void;
  id?: string;
}

/** The day at whose end a key expires, with buttons for common periods. A picker of times would not fit on phones. */
export function ExpiryInput({ value = null, onChange, id }: Props) {
  const t = useTexts(keyFormTexts);
  const time = useDayjs(value);
  const choose = (day: Dayjs | null) => onChange?.(day ? formatTime(day.endOf('day')) : null);
  const periods = [
    { label: t.days(30), end: dayjs().add(30, 'day') },
    { label: t.days(90), end: dayjs().add(90, 'day') },
    { label: t.year, end: dayjs().add(1, 'year') },
  ];
  return (
    <>
      <DatePicker {...(id ? { id } : {})} value={time} onChange={choose} className="full-width" />
      <div className="keys-periods">
        {periods.map(({ label, end }) => (
          <Button key={label} type="link" size="small" onClick={() => choose(end)}>
            {label}
          </Button>
        ))}
        {/* A key that was created through the API can expire at any time of the day. */}
        {value && time && value !== formatTime(time.endOf('day')) && (
          <span className="secondary">{t.exactTime(value)}</span>
        )}
      </div>
    </>
  );
}
