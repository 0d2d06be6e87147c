import type { Database } from '../../db/connect.ts';
import type { App } from '../context.ts';
import { sealAll } from './feed.ts';

/** Seals changes in the background while the service runs. */
export function startSealing(app: App, db: Database): void {
  let sealing: Promise<void> | undefined;
  const timer = setInterval(() => {
    sealing ??= sealAll(db)
      // The database may be unavailable: the next interval tries again.
      .catch(() => {})
      .then(() => {
        sealing = undefined;
      });
  }, app.timing.sealMs).unref();
  app.addHook('onClose', async () => {
    clearInterval(timer);
    await sealing;
  });
}
