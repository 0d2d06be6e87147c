import type { App } from '../context.ts';
import { trackedResponse } from '../http/load-shedding.ts';
import { hasBody } from '../http/server.ts';
import type { VerifiedToken } from './claims.ts';
import type { TokenReader } from './tokens.ts';

/** Requires an access token for all routes of this scope. */
export function requireToken(app: App, tokens: TokenReader): void {
  app.decorateRequest('token', null as unknown as VerifiedToken);
  app.decorateRequest('replayed', false);
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.replayed) reply.header('idempotent-replayed', 'true');
    done(null, payload);
  });
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, requiresToken: true };
  });
  app.addHook('onRequest', (request, reply, done) => {
    const { authorization } = request.headers;
    const { loadShedder } = app;
    // A request with a body gets its slot when the body has arrived.
    const admit = () => done(hasBody(request.raw) ? undefined : loadShedder.admit(request, reply));
    // Avoid a promise if the token is cached, as for most requests.
    const cached = tokens.cached(authorization);
    if (cached) {
      request.token = cached;
      return admit();
    }
    // Until the token is verified, the request counts for its address.
    const error = loadShedder.admit(request, reply);
    if (error) return done(error);
    tokens.read(authorization).then((token) => {
      trackedResponse(reply).release();
      request.token = token;
      admit();
    }, done);
  });
}
