import { useCallback, useEffect, useRef } from 'react';

/**
 * Tells a late response whether its component is still shown, so that it does not navigate away from another screen.
 */
export function useIsMounted(): () => boolean {
  const mounted = useRef(true);
  useEffect(() => {
    mounted.current = true;
    return () => {
      mounted.current = false;
    };
  }, []);
  return useCallback(() => mounted.current, []);
}
