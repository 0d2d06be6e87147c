import type { FastifySchema } from 'fastify';
import type { App } from '../context.ts';
import { hasBody } from '../http/server.ts';
import { type KeyReader, keyIn } from './api-keys.ts';
import type { ApiKeyCredentials, VerifiedToken } from './credentials.ts';
import { isPermission, type Requirement } from './permissions.ts';
import type { TokenReader } from './tokens.ts';

/** Requires an access token or an API key for all routes of this scope. */
export function requireToken(app: App, tokens: TokenReader, keys: KeyReader): void {
  app.decorateRequest('token', null as unknown as VerifiedToken);
  app.decorateRequest('replayed', false);
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.replayed) reply.header('idempotent-replayed', 'true');
    done(null, payload);
  });
  app.addHook('onRoute', (route) => {
    const { requires, allowsSelf = false } = route.config ?? {};
    if (!requires) throw new Error(`${route.method} ${route.url} does not state what it requires.`);
    route.config = { ...route.config, requiresToken: true };
    route.schema = describeRequirement(route.schema, requires, allowsSelf);
  });
  app.addHook('onRequest', (request, reply, done) => {
    const { authorization } = request.headers;
    const { loadShedder } = app;
    // A request with a body gets its slot when the body has arrived.
    const admit = () => (hasBody(request.raw) ? done() : loadShedder.admit(request, reply, done));
    // Avoid a promise if the token is cached, as for most requests.
    const key = keyIn(authorization);
    const cached = key === undefined ? tokens.cached(authorization, request.ip) : keys.cached(key, request.ip);
    if (cached) {
      request.token = cached;
      return admit();
    }
    // Until the token is verified, the request counts against the share of its address.
    loadShedder.admit(request, reply, (error) => {
      if (error) return done(error);
      const read: Promise<VerifiedToken | ApiKeyCredentials> =
        key === undefined ? tokens.read(authorization, request.ip) : keys.find(key, request.ip);
      read.then((token) => {
        loadShedder.takeBack(reply);
        request.token = token;
        admit();
      }, done);
    });
  });
}

/** Shows in the OpenAPI document what an operation requires. */
function describeRequirement(schema: FastifySchema | undefined, requires: Requirement, allowsSelf: boolean) {
  const permissions = isPermission(requires) ? [requires] : [];
  const requirement =
    permissions.length > 0
      ? `Requires \`${requires}\`${allowsSelf ? ', unless the id is the caller’s own' : ''}.`
      : 'Any user.';
  const description = [requirement, schema?.description].filter(Boolean).join(' ');
  return { ...schema, description, security: [{ token: permissions }] };
}
