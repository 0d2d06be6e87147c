import { type ComponentType, lazy } from 'react';
import { isReached, untilReached } from './connection.ts';

interface Screen {
  default: ComponentType;
}

/** A screen whose files are fetched when it is first opened; without a connection, as soon as there is one. */
export const screen = (load: () => Promise<Screen>) => lazy(() => fetched(load));

const ASK_AGAIN = 3000;
const JUST_NOW = 60_000;

async function fetched(load: () => Promise<Screen>): Promise<Screen> {
  for (let inVain = 0; ; ) {
    try {
      await Promise.all([...missing].map(askAgain));
      return await load();
    } catch (error) {
      if (!(await isReached())) await untilReached(ASK_AGAIN);
      else if (++inVain > 1) return loadPageAgain(error);
    }
  }
}

/** The service is there, the files are not: since an update they have other names, which the new page knows. */
function loadPageAgain(error: unknown): Promise<Screen> {
  const [arrival] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (arrival?.type === 'reload' && performance.now() < JUST_NOW) throw error;
  window.location.reload();
  // Nothing more is shown on this page.
  return new Promise(() => undefined);
}

/** Style sheets that did not come. The bundler's code asks for each once, and would show the screen without it. */
const missing = new Set<HTMLLinkElement>();
window.addEventListener(
  'error',
  ({ target }) => target instanceof HTMLLinkElement && target.rel === 'stylesheet' && missing.add(target),
  true,
);

const askAgain = (link: HTMLLinkElement) =>
  new Promise<void>((resolve, reject) => {
    const again = link.cloneNode() as HTMLLinkElement;
    again.onload = () => resolve();
    again.onerror = () => reject(new Error(`${link.href} did not come.`));
    link.replaceWith(again);
    missing.delete(link);
  });
