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
  const decide = createBuckets((bucket, wanted) => takeRequestTokens(db, bucket, wanted));

  /** Returns the bucket of the key first: rejected requests of a key must not use up the tokens of the tenant. */
  function bucketsOf({ token }: FastifyRequest): Bucket[] {
    const { tenantId, keyId } = token;
    const perMinute = keyId === undefined ? null : token.known.requestsPerMinute;
    return [
      ...(keyId !== undefined && perMinute !== null
        ? [{ tenantId, keyId, perSecond: perMinute / KEY_WINDOW_SECONDS, capacity: perMinute }]
        : []),
      ...(perSecond === null ? [] : [{ tenantId, perSecond, capacity: perSecond * TENANT_WINDOW_SECONDS }]),
    ];
  }

  /** Adds the headers, and returns the error of a rejected request. */
  function apply(reply: FastifyReply, { keyId, capacity }: Bucket, decision: Decision): ApiError | undefined {
    const { allowed, remaining, resetSeconds: seconds } = decision;
    const [name, window] = keyId === undefined ? ['tenant', TENANT_WINDOW_SECONDS] : ['key', KEY_WINDOW_SECONDS];
    addToList(reply, 'ratelimit-policy', `"${name}";q=${capacity};w=${window}`);
    addToList(reply, 'ratelimit', `"${name}";r=${remaining};t=${seconds}`);
    if (allowed) return undefined;
    return apiError('TOO_MANY_REQUESTS', keyId === undefined ? { seconds } : { seconds, keyId: Number(keyId) });
  }

  return (request, reply, done) => {
    const buckets = bucketsOf(request);
    const applyNext = (n: number): void => {
      const bucket = buckets[n];
      if (!bucket) {
        done();
        return;
      }
      const proceed = (decision: Decision) => {
        const error = apply(reply, bucket, decision);
        if (error) done(error);
        else applyNext(n + 1);
      };
      const decision = decide(bucket);
      if (decision instanceof Promise) decision.then(proceed, done);
      else proceed(decision);
    };
    applyNext(0);
  };
}

type RequestLimiter = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

function addToList(reply: FastifyReply, name: string, item: string): void {
  const others = reply.getHeader(name);
  reply.header(name, others === undefined ? item : `${others}, ${item}`);
}
