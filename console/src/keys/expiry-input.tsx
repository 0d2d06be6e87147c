import { Button, DatePicker, Space } from 'antd';
import dayjs, { type Dayjs } from 'dayjs';
import { useTexts } from '../language.ts';
import { useDayjs } from '../ui/use-dayjs.ts';
import { formatTime, TIME_FORMAT } from './key-values.ts';
import { keyFormTexts } from './texts.ts';

interface Props {
  value?: string | null;
  onChange?: (time: string | null) => void;
  id?: string;
}

/** The time at which a key expires, with buttons for common periods. */
export function ExpiryInput({ value = null, onChange, id }: Props) {
  const t = useTexts(keyFormTexts);
  const time = useDayjs(value);
  const choose = (next: Dayjs | null) => onChange?.(next ? formatTime(next) : null);
  const periods = [
    { label: t.days(30), end: () => dayjs().add(30, 'day') },
    { label: t.days(90), end: () => dayjs().add(90, 'day') },
    { label: t.year, end: () => dayjs().add(1, 'year') },
  ];
  return (
    <>
      <DatePicker
        {...(id ? { id } : {})}
        value={time}
        onChange={choose}
        format={TIME_FORMAT}
        showTime
        showNow={false}
        className="full-width"
      />
      <Space size={4} className="keys-periods">
        {periods.map(({ label, end }) => (
          <Button key={label} type="link" size="small" onClick={() => choose(end().endOf('day'))}>
            {label}
          </Button>
        ))}
      </Space>
    </>
  );
}
