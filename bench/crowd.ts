import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Figures, Order } from './load.ts';

/** The load generator, in a process of its own; one order at a time. */
export function startCrowd() {
  const child = fork(fileURLToPath(new URL('./load.js', import.meta.url)), { execArgv: [] });
  const gone = once(child, 'exit').then(() => {
    throw new Error('the load generator ended');
  });
  gone.catch(() => {});
  return {
    async call(order: Order): Promise<Figures> {
      child.send(order);
      const [answer] = (await Promise.race([once(child, 'message'), gone])) as [Figures | { fault: string }];
      if ('fault' in answer) throw new Error(answer.fault);
      return answer;
    },
    stop: () => void child.kill(),
  };
}
