import { type ComponentType, lazy } from 'react';
import { checkConnection, waitForConnection } from './connection.ts';

interface ScreenModule {
  default: ComponentType;
}

/** A screen whose files are loaded when it is first opened. Without a connection, it waits for one. */
export const lazyScreen = (load: () => Promise<ScreenModule>) => lazy(() => loadWithRetry(load));

const RETRY_INTERVAL_MS = 3000;
const RECENT_RELOAD_MS = 60_000;

async function loadWithRetry(load: () => Promise<ScreenModule>): Promise<ScreenModule> {
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
function reloadPage(error: unknown): Promise<ScreenModule> {
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
