import type { App } from './context.ts';

interface PeriodicJob {
  intervalMs: number;
  /** Is not called again while it runs. `isClosing` says that the service is stopping, so that a long run can end early. */
  run(isClosing: () => boolean): Promise<void>;
  /** The database may be unavailable: the next interval tries again. */
  onError(error: Error): void;
}

/** Runs work in the background at an interval, until the service is closed. Closing waits for work in progress. */
export function startPeriodicJob(app: App, { intervalMs, run, onError }: PeriodicJob): void {
  let running: Promise<void> | undefined;
  let closing = false;
  const timer = setInterval(() => {
    running ??= run(() => closing)
      .catch(onError)
      .then(() => {
        running = undefined;
      });
  }, intervalMs).unref();
  app.addHook('onClose', async () => {
    closing = true;
    clearInterval(timer);
    await running;
  });
}
