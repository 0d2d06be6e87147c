import type { App } from '../context.ts';
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
  app.addHook('onRequest', (request, _reply, done) => {
    const { authorization } = request.headers;
    // Avoid a promise if the token is cached, as for most requests.
    const cached = tokens.cached(authorization);
    if (cached) {
      request.token = cached;
      done();
      return;
    }
    tokens.read(authorization).then((token) => {
      request.token = token;
      done();
    }, done);
  });
}
