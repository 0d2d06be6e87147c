import dayjs, { type Dayjs } from 'dayjs';
import { useMemo } from 'react';

/**
 * The value of a DatePicker for a date in the URL; null if it is not a date. The object is memoized, because a picker
 * discards what is being typed when it receives a new one.
 */
export const useDayjs = (text: string | null): Dayjs | null =>
  useMemo(() => {
    const value = text ? dayjs(text) : null;
    return value?.isValid() ? value : null;
  }, [text]);
