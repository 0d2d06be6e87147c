import type { Delivery } from '../api.ts';

/** How often to look for the result of an attempt that is due soon, and of others. */
const SOON_MS = 2_000;
const LATER_MS = 15_000;

/** Returns the refetch interval of deliveries; false if none is pending. */
export function getRefetchInterval(deliveries: Delivery[]): number | false {
  const pending = deliveries.filter(({ state }) => state === 'waiting');
  if (pending.length === 0) return false;
  const soon = Date.now() + LATER_MS;
  const isSoon = ({ nextTry }: Delivery) => nextTry !== null && Date.parse(nextTry) < soon;
  return pending.some(isSoon) ? SOON_MS : LATER_MS;
}
