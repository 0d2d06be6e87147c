import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { App, Dependencies } from '../context.ts';
import { type ApiError, apiError } from '../http/errors.ts';
import { type Bucket, createBuckets, type Decision } from './buckets.ts';
import { takeRequestTokens } from './queries.ts';

/** The bucket of a tenant holds the requests of this many seconds, so that a page may send a burst of them. */
const TENANT_WINDOW_SECONDS = 5;
/** The bucket of an API key holds the requests of a minute. */
const KEY_WINDOW_SECONDS = 60;

/**
 * Limits the requests of each tenant in this scope (`BANYAN_TENANT_REQUESTS_PER_SECOND`) and of each API key
 * (`requestsPerMinute`), once the token is verified. The headers follow draft-ietf-httpapi-ratelimit-headers.
 */
export function limitRequests(app: App, deps: Dependencies): void {
  app.addHook('onRequest', createLimiter(deps));
}

/** Returns the limiter as a hook, for operations that authenticate the caller later. */
export function createLimiter({ db, config }: Dependencies): RequestLimiter {
  const perSecond = config.tenantRequestsPerSecond;
  const { take, putBack } = createBuckets((...lease) => takeRequestTokens(db, ...lease));

  /**
   * Returns the buckets of a request. That of the key comes first: requests that it rejects must not use up the tokens
   * of the tenant. A refused key takes no tokens of the tenant at all: otherwise the former user of a deleted key could
   * keep the tenant from being served.
   */
  function bucketsOf({ token }: FastifyRequest): Bucket[] {
    const { tenantId, keyId } = token;
    const perMinute = keyId === undefined ? null : (token.known.limit.requestsPerMinute ?? null);
    const isRefused = keyId !== undefined && token.refusalState.refused;
    return [
      ...(keyId !== undefined && perMinute !== null
        ? [{ tenantId, keyId, perSecond: perMinute / KEY_WINDOW_SECONDS, capacity: perMinute }]
        : []),
      ...(perSecond === null || isRefused
        ? []
        : [{ tenantId, perSecond, capacity: perSecond * TENANT_WINDOW_SECONDS }]),
    ];
  }

  /** Takes a token from each bucket. A request that one of them rejects takes no token from the others. */
  const limit: RequestLimiter = (request, reply, done) => {
    const keyLimit = request.token.keyId === undefined ? undefined : request.token.known.limit;
    const restart = () => limit(request, reply, done);
    // This process knows the key only from an access token, and has answered no request with it yet.
    if (keyLimit && keyLimit.requestsPerMinute === undefined) {
      keyLimit.refresh().then(restart, done);
      return;
    }
    const buckets = bucketsOf(request);
    if (buckets.length === 0) {
      done();
      return;
    }
    const taken: Decision[] = [];
    const putAllBack = () => taken.map((_, n) => putBack(buckets[n] as Bucket));
    const takeNext = (): void => {
      const bucket = buckets[taken.length];
      if (!bucket) {
        addHeaders(reply, buckets, taken);
        done();
        return;
      }
      const proceed = (decision: Decision) => {
        if (decision.allowed) {
          taken.push(decision);
          takeNext();
        } else if (bucket.keyId !== undefined && keyLimit?.isStale) {
          // The limit may have been raised, and rejected requests don't read the key. No token has been taken yet.
          keyLimit.refresh().then(restart, done);
        } else {
          addHeaders(reply, buckets, [...putAllBack(), decision]);
          done(rejection(bucket, decision));
        }
      };
      const fail = (error: Error) => {
        putAllBack();
        done(error);
      };
      const decision = take(bucket);
      if (decision instanceof Promise) decision.then(proceed, fail);
      else proceed(decision);
    };
    takeNext();
  };
  return limit;
}

function rejection({ keyId }: Bucket, { resetSeconds: seconds }: Decision): ApiError {
  return apiError('TOO_MANY_REQUESTS', keyId === undefined ? { seconds } : { seconds, keyId: Number(keyId) });
}

type RequestLimiter = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

/** Adds the headers of the buckets that have decided. */
function addHeaders(reply: FastifyReply, buckets: Bucket[], decisions: Decision[]): void {
  const nameOf = ({ keyId }: Bucket) => (keyId === undefined ? '"tenant"' : '"key"');
  const windowOf = ({ keyId }: Bucket) => (keyId === undefined ? TENANT_WINDOW_SECONDS : KEY_WINDOW_SECONDS);
  const decided = buckets.slice(0, decisions.length);
  const policies = decided.map((bucket) => `${nameOf(bucket)};q=${bucket.capacity};w=${windowOf(bucket)}`);
  const states = decided.map((bucket, n) => {
    const { remaining, resetSeconds } = decisions[n] as Decision;
    return `${nameOf(bucket)};r=${remaining};t=${resetSeconds}`;
  });
  reply.header('ratelimit-policy', policies.join(', '));
  reply.header('ratelimit', states.join(', '));
}
