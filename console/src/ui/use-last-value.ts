import { useEffect, useRef } from 'react';

/** The last value that was not null. A closing dialog shows it until its animation ends. */
export function useLastValue<T>(value: T | null): T | null {
  const last = useRef(value);
  useEffect(() => {
    if (value !== null) last.current = value;
  }, [value]);
  return value ?? last.current;
}
