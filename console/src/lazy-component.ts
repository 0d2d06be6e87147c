import { type ComponentType, lazy } from 'react';
import { checkConnection, waitForConnection } from './connection.ts';

interface ComponentModule<Props> {
  default: ComponentType<Props>;
}

/** A screen or dialog whose files are loaded when it is first shown. Without a connection, it waits for one. */
export const lazyComponent = <Props = object>(load: () => Promise<ComponentModule<Props>>) =>
  lazy(() => loadWithRetry(load));

const RETRY_INTERVAL_MS = 3000;
const RECENT_RELOAD_MS = 60_000;

async function loadWithRetry<Module>(load: () => Promise<Module>): Promise<Module> {
  for (let failures = 0; ; ) {
    try {
      await Promise.all([...failedStyleSheets].map(reloadStyleSheet));
      return await load();
    } catch (error) {
      if (!(await checkConnection())) await waitForConnection(RETRY_INTERVAL_MS);
      else if (++failures > 1) return reloadPage(error);
    }
  }
}

/** The service responds but the files are missing: a new version was deployed, whose page names the new files. */
function reloadPage(error: unknown): Promise<never> {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  // Do not reload in a loop.
  if (navigation?.type === 'reload' && performance.now() < RECENT_RELOAD_MS) throw error;
  window.location.reload();
  return new Promise(() => undefined);
}

/** Vite's preload code requests each style sheet once and would show the screen without a failed one. */
const failedStyleSheets = new Set<HTMLLinkElement>();
window.addEventListener(
  'error',
  ({ target }) => target instanceof HTMLLinkElement && target.rel === 'stylesheet' && failedStyleSheets.add(target),
  true,
);

const reloadStyleSheet = (link: HTMLLinkElement) =>
  new Promise<void>((resolve, reject) => {
    const copy = link.cloneNode() as HTMLLinkElement;
    copy.onload = () => resolve();
    copy.onerror = () => reject(new Error(`${link.href} could not be loaded.`));
    link.replaceWith(copy);
    failedStyleSheets.delete(link);
  });
