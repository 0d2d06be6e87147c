/** Limits how many tasks run at the same time. Tasks beyond the limit wait in the order in which they arrived. */
export class Semaphore {
  private running = 0;
  private readonly queue = new Set<() => void>();
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Whether nothing runs and nothing waits. */
  get idle(): boolean {
    return this.running === 0 && this.queue.size === 0;
  }

  get waiting(): number {
    return this.queue.size;
  }

  /** Runs a task as soon as a slot is free. If the signal aborts before that, rejects with the signal's reason. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.acquire(signal);
    try {
      return await task();
    } finally {
      const [next] = this.queue;
      // The slot passes to the next task, so `running` does not change.
      if (next) next();
      else this.running--;
    }
  }

  private acquire(signal?: AbortSignal): Promise<void> | undefined {
    signal?.throwIfAborted();
    if (this.running < this.limit) {
      this.running++;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.queue.delete(enter);
        signal?.removeEventListener('abort', abort);
      };
      const enter = () => {
        leave();
        resolve();
      };
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      this.queue.add(enter);
      signal?.addEventListener('abort', abort);
    });
  }
}

/** One semaphore for each key, created when it is first needed and dropped when it is idle. */
export class KeyedSemaphore {
  private readonly semaphores = new Map<string, Semaphore>();
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  async run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const semaphore = this.semaphores.get(key) ?? new Semaphore(this.limit);
    this.semaphores.set(key, semaphore);
    try {
      return await semaphore.run(task, signal);
    } finally {
      if (semaphore.idle) this.semaphores.delete(key);
    }
  }

  /** Returns how many tasks wait, over all keys. */
  countWaiting(): number {
    let count = 0;
    for (const { waiting } of this.semaphores.values()) count += waiting;
    return count;
  }
}
