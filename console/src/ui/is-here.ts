import { useCallback, useEffect, useRef } from 'react';

/** Whether this part of the screen is still shown: an answer that comes late must not pull anybody off another screen. */
export function useIsHere(): () => boolean {
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  return useCallback(() => here.current, []);
}
