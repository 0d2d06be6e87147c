import { useEffect, useRef } from 'react';

/** What it was when it last was something: a dialog that fades out still shows it. */
export function useLast<T>(value: T | null): T | null {
  const last = useRef(value);
  useEffect(() => {
    if (value !== null) last.current = value;
  }, [value]);
  return value ?? last.current;
}
