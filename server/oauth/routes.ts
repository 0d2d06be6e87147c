import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthDependencies } from '../auth/login.ts';
import type { App } from '../context.ts';
import { etagOfText } from '../http/etag.ts';
import { sendContent } from '../http/static-content.ts';
import { readCredentials } from './client.ts';
import { JSON_TYPE, sendOAuthError } from './errors.ts';
import { parseForms } from './form.ts';
import { issueToken } from './grants.ts';
import { describeServer, readKeySet } from './metadata.ts';
import { oauthResponses } from './openapi.ts';
import { IssuedToken, KeySet, Metadata, TokenRequest } from './schema.ts';

const tags = ['OAuth'];
const consumes = ['application/x-www-form-urlencoded'];
/** Shorter than a new key is published before it signs (auth/signing-keys.ts). */
const CACHE_CONTROL = 'public, max-age=600';

/** Clients may add parameters, for example to bypass a cache. */
const cacheable = { ignoresUnknownParameters: true };

/** The operations whose form the OAuth standards fix. Their answers have no envelope. */
export async function oauthRoutes(app: App, deps: AuthDependencies): Promise<void> {
  app.setErrorHandler(sendOAuthError);
  parseForms(app);

  app.get(
    '/.well-known/jwks.json',
    {
      config: cacheable,
      schema: {
        tags,
        operationId: 'readKeySet',
        summary: 'Read the public keys of access tokens (RFC 7517)',
        security: [],
        response: oauthResponses(KeySet, { cached: true }),
      },
    },
    async (request, reply) => sendCacheable(await readKeySet(deps.keys), request, reply),
  );

  app.get(
    '/.well-known/oauth-authorization-server',
    {
      config: cacheable,
      schema: {
        tags,
        operationId: 'readServerMetadata',
        summary: 'Read the metadata of the authorization server (RFC 8414)',
        security: [],
        response: oauthResponses(Metadata, { cached: true }),
      },
    },
    async (request, reply) => sendCacheable(describeServer(deps.issuer), request, reply),
  );

  app.post(
    '/auth/token',
    {
      schema: {
        tags,
        consumes,
        operationId: 'issueToken',
        summary: 'Exchange an API key or a refresh token for an access token (RFC 6749)',
        security: [],
        body: TokenRequest,
        response: oauthResponses(IssuedToken, { errors: [400, 401] }),
      },
    },
    async (request, reply) => {
      const client = readCredentials(request.headers.authorization, request.body);
      const issued = await issueToken(deps, client, request.body);
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
      return issued;
    },
  );
}

function sendCacheable(document: object, request: FastifyRequest, reply: FastifyReply) {
  const content = Buffer.from(JSON.stringify(document));
  sendContent({ type: JSON_TYPE, content, compressed: [], etag: etagOfText(content) }, request, reply, CACHE_CONTROL);
  return reply as never;
}
