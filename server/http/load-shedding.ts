import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressKey } from './address.ts';
import { liftDeadline } from './deadline.ts';
import { type ApiError, apiError } from './errors.ts';
import { FairShares, type Member, type Releasable } from './fair-shares.ts';
import type { Limits } from './limits.ts';
import { type Subscription, type SubscriptionKind, Subscriptions } from './subscriptions.ts';
import { type TopLevelTenantFinder, TopLevelTenants, WITHOUT_TOKEN } from './top-level-tenants.ts';
import type { TrackedResponse } from './tracked-response.ts';

/** How often throughput is measured. */
const INTERVAL_MS = 100;
/** The limit of requests in flight: as many as the process completes in five intervals. Further requests would only wait. */
const LIMIT_INTERVALS = 5;
/**
 * Rejecting costs time too, and many clients may send at the same moment. So an interval allows one rejection for every four
 * requests that were completed in the previous one, and at least 50. Further rejections wait for a later interval. However many
 * wait, an interval allows no more of them: many clients send the next request as soon as one is rejected.
 */
const REJECTIONS = { perCompleted: 0.25, minPerInterval: 50 };

/**
 * Sheds load beyond the capacity of the service: further requests are rejected with `TOO_BUSY` and a `Retry-After` header.
 * Request slots and subscriptions are shared fairly: a caller is admitted beyond the limit if their tenant holds less than its
 * share. For callers without a token, and for API keys that were refused, their address counts instead of the tenant.
 */
export class LoadShedder {
  private readonly limits: Limits;
  private readonly slots = new FairShares();
  private readonly subscribers = new FairShares();
  private readonly subscriptions: Subscriptions;
  private readonly topLevelTenants: TopLevelTenants;
  private readonly rejections = new Rejections();
  private readonly timer: NodeJS.Timeout;
  private limit: number;
  private isLimitReached = false;
  /** Recent throughput: rises at once, and falls within seconds when the service gets slower. */
  private throughput = 0;
  /** How many requests have been rejected so far, by the limit that was reached. */
  private readonly shed = { slot: 0, subscription: 0 };

  constructor(limits: Limits, findTopLevel: TopLevelTenantFinder) {
    this.limits = limits;
    this.limit = limits.requests.min;
    this.subscriptions = new Subscriptions(this.subscribers, limits.subscriptions);
    this.topLevelTenants = new TopLevelTenants([this.slots, this.subscribers], findTopLevel);
    this.timer = setInterval(() => this.measure(), INTERVAL_MS).unref();
  }

  /**
   * Gives a request a slot until its response has been written to the socket. Calls `done`, with the error if there is no slot.
   * Health checks and metrics need none.
   */
  admit(request: FastifyRequest, reply: FastifyReply, done: (error?: ApiError) => void): void {
    const { needsNoSlot } = request.routeOptions.config;
    // A response that has ended, because the deadline has passed meanwhile, would not give the slot back.
    if (needsNoSlot || request.raw.socket.destroyed || reply.raw.writableEnded) {
      done();
      return;
    }
    const member = this.memberOf(this.slots, request);
    if (this.slots.held >= this.limit) {
      this.isLimitReached = true;
      if (!this.slots.isBelowShare(member, this.limit)) {
        this.shed.slot++;
        this.rejections.add(reply, () => done(apiError('TOO_BUSY')));
        return;
      }
    }
    this.slots.add(member);
    trackedResponse(reply).hold(member);
    done();
  }

  /** Takes the slot of a request back without counting the request as completed: it gets another one when its caller is known. */
  takeBack(reply: FastifyReply): void {
    if (trackedResponse(reply).release()) this.slots.released--;
  }

  /** Fails if there is no room for a subscription: before the first read, which would cost more than the rejection. */
  async assertRoomForSubscription(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (this.subscriptions.hasRoomFor(this.memberOf(this.subscribers, request))) return;
    this.isLimitReached = true;
    this.shed.subscription++;
    trackedResponse(reply).release();
    await new Promise<void>((resolve) => this.rejections.add(reply, resolve));
    throw apiError('TOO_BUSY');
  }

  /** Exchanges the slot of a request for a subscription, which has no deadline. */
  async subscribe(request: FastifyRequest, reply: FastifyReply, kind: SubscriptionKind): Promise<Subscription> {
    // If there is room, do not wait before taking it: another request could take it meanwhile.
    const hasRoom = this.subscriptions.hasRoomFor(this.memberOf(this.subscribers, request));
    if (!hasRoom) await this.assertRoomForSubscription(request, reply);
    if (this.subscribers.held >= this.limits.subscriptions) this.isLimitReached = true;
    const subscription = this.subscriptions.add(this.memberOf(this.subscribers, request), kind);
    const response = trackedResponse(reply);
    response.release();
    response.hold(subscription);
    // The client has disconnected, and its response will not emit `close` again.
    if (response.destroyed || request.raw.socket.destroyed) response.release();
    liftDeadline(reply);
    return subscription;
  }

  /** Returns the figures that metrics show. */
  usage() {
    return {
      slots: { held: this.slots.held, limit: Math.floor(this.limit) },
      subscriptions: this.subscriptions.count(),
      shed: this.shed,
      waitingRejections: this.rejections.waiting,
    };
  }

  close(): void {
    clearInterval(this.timer);
  }

  private memberOf(shares: FairShares, { token, ip }: FastifyRequest): Member {
    // Routes without a token have no `token`; on others it is null until it is verified.
    const isRefused = token?.keyId !== undefined && token.refusalState.refused;
    const isTenant = token && !isRefused;
    const name = isTenant ? token.tenantId : addressKey(ip ?? '');
    return shares.find(name) ?? shares.create(name, isTenant ? this.topLevelTenants.of(name) : WITHOUT_TOKEN);
  }

  private measure(): void {
    const completed = this.slots.released;
    this.slots.released = 0;
    const { min, max } = this.limits.requests;
    this.throughput = Math.max(completed, this.throughput * 0.8);
    this.limit = Math.min(Math.max(min, this.throughput * LIMIT_INTERVALS), max);
    this.rejections.nextInterval(completed);
    if (this.isLimitReached) this.topLevelTenants.lookUpMissing();
    this.isLimitReached = false;
  }
}

/** All responses are of this class: see server.ts. */
export const trackedResponse = ({ raw }: FastifyReply): TrackedResponse => raw as unknown as TrackedResponse;

/** Spreads rejections over intervals. */
class Rejections {
  private readonly pending = new Map<Releasable, () => void>();
  private sent = 0;
  private max = REJECTIONS.minPerInterval;

  get waiting(): number {
    return this.pending.size;
  }

  /** Calls `reject` at once or in a later interval, unless the client disconnects before. There is no deadline meanwhile. */
  add(reply: FastifyReply, reject: () => void): void {
    if (this.sent < this.max) {
      this.sent++;
      reject();
      return;
    }
    const rejection = { release: () => void this.pending.delete(rejection) };
    this.pending.set(rejection, reject);
    trackedResponse(reply).hold(rejection);
    liftDeadline(reply);
  }

  nextInterval(completed: number): void {
    this.max = Math.max(REJECTIONS.minPerInterval, completed * REJECTIONS.perCompleted);
    this.sent = 0;
    for (const [rejection, reject] of this.pending) {
      if (this.sent >= this.max) return;
      this.sent++;
      rejection.release();
      reject();
    }
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    loadShedder: LoadShedder;
  }
  interface FastifyContextConfig {
    /** Health checks and metrics are never rejected. */
    needsNoSlot?: boolean;
    /** The route requires a token or API key: its requests get their slot once that is verified. */
    requiresToken?: boolean;
  }
}
