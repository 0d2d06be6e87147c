import dayjs, { type Dayjs } from 'dayjs';
import { useMemo } from 'react';

/**
 * A moment for a date picker; null for what is none. The same object as long as the text is the same: given another one
 * whenever the screen is drawn again, a picker would drop what is being typed or chosen in it.
 */
export const useMoment = (text: string | null): Dayjs | null =>
  useMemo(() => {
    const moment = text ? dayjs(text) : null;
    return moment?.isValid() ? moment : null;
  }, [text]);
