import { createStore } from './store.ts';

/** Whether the service responds. Every request updates it; while it is offline, the service is probed periodically. */
export const connection = createStore<'online' | 'offline'>('online');

const PROBE_INTERVAL_MS = 3000;
let probeTimer: ReturnType<typeof setTimeout> | undefined;

export function markOffline(): void {
  connection.set('offline');
  probeTimer ??= setTimeout(probe, PROBE_INTERVAL_MS);
}

export function markOnline(): void {
  clearTimeout(probeTimer);
  probeTimer = undefined;
  connection.set('online');
}

async function probe(): Promise<void> {
  clearTimeout(probeTimer);
  probeTimer = undefined;
  try {
    const response = await fetch('/version', { headers: { accept: 'application/json' } });
    // Read the body: an unread response occupies one of the browser's six connections to this host.
    await response.text();
    if (response.ok) return markOnline();
  } catch {
    // The service is still unreachable.
  }
  markOffline();
}

/**
 * Probes the service now. Needed after a failed script or style sheet, whose error event does not say why it failed.
 */
export async function checkConnection(): Promise<boolean> {
  await probe();
  return connection.get() === 'online';
}

/**
 * Resolves when the service responds again, at the latest after the timeout: then another attempt is due anyway. If the service
 * is not offline, it waits for the whole timeout.
 */
export function waitForConnection(timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      unsubscribe();
      resolve();
    };
    const timer = setTimeout(finish, timeoutMs);
    const unsubscribe = connection.subscribe(() => connection.get() === 'online' && finish());
  });
}

// The browser notices some changes earlier than the next request would.
window.addEventListener('online', () => connection.get() === 'offline' && void probe());
window.addEventListener('offline', markOffline);
