import { ServerResponse } from 'node:http';
import type { Releasable } from './fair-shares.ts';

/**
 * A response that holds a request slot, a subscription or a waiting rejection. What it holds is released once the whole response
 * has been written to the socket, not when the client has read it: a client that reads nothing must not keep the slot.
 */
export class TrackedResponse extends ServerResponse {
  private held: Releasable | null = null;

  hold(held: Releasable): void {
    this.held = held;
  }

  /** Returns whether it held anything. */
  release(): boolean {
    const { held } = this;
    if (!held) return false;
    this.held = null;
    held.release();
    return true;
  }

  override end(...args: unknown[]): this {
    super.end(...(args as []));
    this.release();
    return this;
  }
}
