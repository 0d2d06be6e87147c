import { store } from './store.ts';

/** Whether the service answers. Every request tells; while it does not, it is asked every few seconds. */
export const connection = store<'there' | 'lost'>('there');

const ASK_AGAIN = 3000;
let asking: ReturnType<typeof setTimeout> | undefined;

export function lost(): void {
  connection.set('lost');
  asking ??= setTimeout(ask, ASK_AGAIN);
}

export function reached(): void {
  clearTimeout(asking);
  asking = undefined;
  connection.set('there');
}

async function ask(): Promise<void> {
  clearTimeout(asking);
  asking = undefined;
  try {
    const response = await fetch('/version', { headers: { accept: 'application/json' } });
    // Unread it would keep its connection, of which a browser has six.
    await response.text();
    if (response.ok) return reached();
  } catch {
    // Still away.
  }
  lost();
}

/** Asks now: for what the browser fetches by itself, whose failure does not tell. */
export async function isReached(): Promise<boolean> {
  await ask();
  return connection.get() === 'there';
}

/** Resolves when the service answers again, or after a few seconds: then it is worth another try. */
export function untilReached(patience: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      forget();
      resolve();
    };
    const timer = setTimeout(done, patience);
    const forget = connection.follow(() => connection.get() === 'there' && done());
  });
}

// The browser knows some of it sooner.
window.addEventListener('online', () => connection.get() === 'lost' && void ask());
window.addEventListener('offline', lost);
