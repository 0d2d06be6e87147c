import { type RefObject, useCallback, useEffect, useState } from 'react';

/** Drawn above and below what is in sight, so that a quick scroll finds rows there. */
const SPARE = 12;

/** Which rows of a long list are in sight: all of one height, so that it is a division. */
export function useWindow(scroller: RefObject<HTMLDivElement | null>, count: number, rowHeight: number) {
  const [sight, setSight] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => setSight({ top: element.scrollTop, height: element.clientHeight });
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [scroller]);
  const show = useCallback(
    (index: number) => {
      const element = scroller.current;
      if (!element) return;
      const top = index * rowHeight;
      const { scrollTop, clientHeight } = element;
      // What was far away comes to the middle, with what is around it.
      if (top < scrollTop - rowHeight || top > scrollTop + clientHeight) element.scrollTop = top - clientHeight / 2;
      else if (top < scrollTop) element.scrollTop = top;
      else if (top + rowHeight > scrollTop + clientHeight) element.scrollTop = top + rowHeight - clientHeight;
    },
    [scroller, rowHeight],
  );
  const first = Math.max(0, Math.floor(sight.top / rowHeight) - SPARE);
  const last = Math.min(count, Math.ceil((sight.top + sight.height) / rowHeight) + SPARE);
  return { first: Math.min(first, last), last, show };
}
