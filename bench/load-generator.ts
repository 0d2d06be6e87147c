import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadOptions, LoadResult } from './load-process.ts';

/** Starts the load generator in a separate process. It runs one load at a time. */
export function startLoadGenerator() {
  const child = fork(fileURLToPath(new URL('./load-process.js', import.meta.url)), { execArgv: [] });
  const exited = once(child, 'exit').then(() => {
    throw new Error('the load generator exited');
  });
  exited.catch(() => {});
  return {
    async run(options: LoadOptions): Promise<LoadResult> {
      child.send(options);
      const [result] = (await Promise.race([once(child, 'message'), exited])) as [LoadResult | { error: string }];
      if ('error' in result) throw new Error(result.error);
      return result;
    },
    stop: () => void child.kill(),
  };
}
