import { apiError } from '../http/errors.ts';

/**
 * The key by which tasks share a queue. Each `owner` has at most one task in a round; within a round, a task whose `group` is
 * already in it comes after the others. Before authentication the owner is the address, which a client can hardly choose, and the
 * group is the tenant that the client names; after authentication the owner is the tenant and the group is the address. So
 * neither one address that names many tenants nor many addresses that name one tenant delay others.
 */
export interface FairnessKey {
  owner: string;
  group: string;
  /** The address of a caller who is not authenticated. */
  anonymousAddress?: string;
}

export const fairnessKeyOfAddress = ({ address, tenantId }: { address: string; tenantId: string }): FairnessKey => ({
  owner: `address ${address}`,
  group: `tenant ${tenantId}`,
  anonymousAddress: address,
});

export const fairnessKeyOfTenant = ({ address, tenantId }: { address: string; tenantId: string }): FairnessKey => ({
  owner: `tenant ${tenantId}`,
  group: `address ${address}`,
});

interface Waiting extends FairnessKey {
  round: number;
  turn: number;
  start: () => void;
  reject: (error: Error) => void;
}

/**
 * Limits how many tasks run at the same time, and shares the queue fairly (round-robin). When the queue is full, the last
 * task of the last round is rejected with `TOO_BUSY`: it belongs to the owner with the most tasks. Adding a task visits the
 * whole queue, which has a few hundred entries at most.
 */
export class FairQueue {
  private running = 0;
  /** The round of the task that was started last. */
  private round = 0;
  /** In the order in which they will start. */
  private readonly waiting: Waiting[] = [];
  private readonly concurrency: number;
  private readonly maxWaiting: number;

  constructor({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }) {
    this.concurrency = concurrency;
    this.maxWaiting = maxWaiting;
  }

  get length(): number {
    return this.waiting.length;
  }

  async run<T>(fairnessKey: FairnessKey, task: () => Promise<T>): Promise<T> {
    const release = await this.acquire(fairnessKey);
    try {
      return await task();
    } finally {
      release();
    }
  }

  /** Takes a slot, or throws `TOO_BUSY`. The returned function releases the slot; call it once. */
  async acquire(fairnessKey: FairnessKey): Promise<() => void> {
    if (this.running < this.concurrency) this.running++;
    else
      await new Promise<void>((start, reject) =>
        this.enqueue({ ...fairnessKey, ...this.placeOf(fairnessKey), start, reject }),
      );
    return () => this.startNext();
  }

  private placeOf({ owner, group }: FairnessKey): { round: number; turn: number } {
    let round = this.round + 1;
    for (const other of this.waiting) if (other.owner === owner) round = Math.max(round, other.round + 1);
    const turn = this.waiting.filter((other) => other.round === round && other.group === group).length;
    return { round, turn };
  }

  private enqueue(task: Waiting): void {
    const at = this.waiting.findIndex(
      ({ round, turn }) => round > task.round || (round === task.round && turn > task.turn),
    );
    this.waiting.splice(at < 0 ? this.waiting.length : at, 0, task);
    if (this.waiting.length > this.maxWaiting) this.waiting.pop()?.reject(apiError('TOO_BUSY'));
  }

  private startNext(): void {
    const next = this.waiting.shift();
    if (!next) {
      this.running--;
      return;
    }
    this.round = next.round;
    next.start();
  }
}
