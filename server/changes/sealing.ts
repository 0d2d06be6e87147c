import type { Database } from '../../db/connect.ts';
import type { App } from '../app.ts';
import { sealAll } from './changes.ts';

/** While the service runs, the chain of seals follows the writers, also where nobody follows the changes. */
export function keepSealing(app: App, db: Database): void {
  let sealing: Promise<void> | undefined;
  const clock = setInterval(() => {
    sealing ??= sealAll(db)
      // Away for a moment, or stopping: what is left is sealed next time.
      .catch(() => {})
      .then(() => {
        sealing = undefined;
      });
  }, app.timing.sealMs).unref();
  app.addHook('onClose', async () => {
    clearInterval(clock);
    await sealing;
  });
}
