import { type RefObject, useCallback, useEffect, useState } from 'react';

/** This many rows are rendered above and below the visible ones, so that fast scrolling does not show blank space. */
const OVERSCAN_ROWS = 12;

/** Computes which rows of a long list to render. All rows have the same height. */
export function useVirtualRows(scroller: RefObject<HTMLDivElement | null>, count: number, rowHeight: number) {
  const [viewport, setViewport] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const update = () => setViewport({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener('scroll', update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', update);
    };
  }, [scroller]);
  const scrollToRow = useCallback(
    (index: number) => {
      const element = scroller.current;
      if (!element) return;
      const top = index * rowHeight;
      const { scrollTop, clientHeight } = element;
      // Center a row that is far away, so that its neighbours are visible too.
      if (top < scrollTop - rowHeight || top > scrollTop + clientHeight) element.scrollTop = top - clientHeight / 2;
      else if (top < scrollTop) element.scrollTop = top;
      else if (top + rowHeight > scrollTop + clientHeight) element.scrollTop = top + rowHeight - clientHeight;
    },
    [scroller, rowHeight],
  );
  const first = Math.max(0, Math.floor(viewport.top / rowHeight) - OVERSCAN_ROWS);
  const last = Math.min(count, Math.ceil((viewport.top + viewport.height) / rowHeight) + OVERSCAN_ROWS);
  const visible = Math.max(1, Math.floor(viewport.height / rowHeight));
  return { first: Math.min(first, last), last, visible, scrollToRow };
}
