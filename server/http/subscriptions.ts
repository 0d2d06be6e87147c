import { apiError } from './errors.ts';
import type { FairShares, Member, Releasable } from './fair-shares.ts';

export type SubscriptionKind = 'long_poll' | 'stream';

/** A long-polling client or an event stream. It waits for changes without a request slot and without a deadline. */
export class Subscription implements Releasable {
  readonly member: Member;
  readonly kind: SubscriptionKind;
  /** Ended by the service, to make room for another tenant. */
  displaced = false;
  private readonly controller = new AbortController();
  private readonly all: Set<Subscription>;

  constructor(member: Member, kind: SubscriptionKind, all: Set<Subscription>) {
    this.member = member;
    this.kind = kind;
    this.all = all;
  }

  /** Aborts when the client disconnects, or when the subscription has to make room. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  displace(): void {
    this.displaced = true;
    this.release();
  }

  release(): void {
    if (this.all.delete(this)) this.member.release();
    this.controller.abort();
  }
}

/**
 * Limits the subscriptions of this process. When there are as many as the limit, the tenant with the most makes room for
 * one with fewer: its oldest subscription ends, and its client can resume from its cursor.
 */
export class Subscriptions {
  private readonly shares: FairShares;
  private readonly limit: number;
  /** In the order in which they began. */
  private readonly all = new Set<Subscription>();

  constructor(shares: FairShares, limit: number) {
    this.shares = shares;
    this.limit = limit;
  }

  hasRoomFor(newcomer: Member): boolean {
    return this.all.size < this.limit || this.findLarger(newcomer) !== undefined;
  }

  add(member: Member, kind: SubscriptionKind): Subscription {
    if (this.all.size >= this.limit) this.makeRoomFor(member);
    const subscription = new Subscription(member, kind, this.all);
    this.all.add(subscription);
    this.shares.add(member);
    return subscription;
  }

  count(): Record<SubscriptionKind, number> {
    const counts = { long_poll: 0, stream: 0 };
    for (const { kind } of this.all) counts[kind]++;
    return counts;
  }

  private makeRoomFor(newcomer: Member): void {
    const larger = this.findLarger(newcomer);
    if (!larger) throw apiError('TOO_BUSY');
    for (const subscription of this.all) {
      if (subscription.member !== larger) continue;
      subscription.displace();
      return;
    }
  }

  /** Returns the tenant with the most subscriptions, if it has to make room for this one. */
  private findLarger(newcomer: Member): Member | undefined {
    let most = newcomer;
    for (const { member } of this.all) if (hasMore(member, most)) most = member;
    // Require a difference of two: otherwise two tenants with equally many would displace each other indefinitely.
    const isFairer =
      most.group === newcomer.group ? most.held > newcomer.held + 1 : most.group.held > newcomer.group.held + 1;
    return isFairer ? most : undefined;
  }
}

/** Compares groups first, then the members of a group. */
const hasMore = (a: Member, b: Member): boolean =>
  a.group === b.group ? a.held > b.held : a.group.held > b.group.held;
