import type { App, Dependencies } from '../context.ts';
import { apiError } from '../http/errors.ts';
import { createTenantBuckets, type Decision, WINDOW_SECONDS } from './buckets.ts';
import { takeRequestTokens } from './queries.ts';

/**
 * Limits the requests of each tenant in this scope (`BANYAN_TENANT_REQUESTS_PER_SECOND`), once the caller's token is
 * verified. The headers follow draft-ietf-httpapi-ratelimit-headers.
 */
export function limitTenants(app: App, { db, config }: Dependencies): void {
  const perSecond = config.tenantRequestsPerSecond;
  if (perSecond === null) return;
  const capacity = perSecond * WINDOW_SECONDS;
  const policy = `"tenant";q=${capacity};w=${WINDOW_SECONDS}`;
  const decide = createTenantBuckets(perSecond, (tenantId, wanted) =>
    takeRequestTokens(db, tenantId, { wanted, perSecond, capacity }),
  );
  app.addHook('onRequest', (request, reply, done) => {
    const apply = ({ allowed, remaining, resetSeconds }: Decision) => {
      reply.header('ratelimit-policy', policy);
      reply.header('ratelimit', `"tenant";r=${remaining};t=${resetSeconds}`);
      done(allowed ? undefined : apiError('TOO_MANY_REQUESTS', { seconds: resetSeconds }));
    };
    const decision = decide(request.token.tenantId);
    if (decision instanceof Promise) decision.then(apply, done);
    else apply(decision);
  });
}
