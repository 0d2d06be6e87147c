import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyReader } from '../auth/api-keys.ts';
import { checkRefusedKeys } from '../auth/caller.ts';
import { requireToken } from '../auth/guard.ts';
import { isKey } from '../auth/key-format.ts';
import type { AuthDependencies } from '../auth/login.ts';
import type { TokenReader } from '../auth/tokens.ts';
import type { App, Dependencies } from '../context.ts';
import { addressKey } from '../http/address.ts';
import { etagOfText } from '../http/etag.ts';
import { sendContent } from '../http/static-content.ts';
import { recordKeyUses } from '../keys/last-used.ts';
import { createLimiter, limitRequests } from '../rate-limits/limit.ts';
import { decodeBasic, findClient, readCredentials, unknownClient } from './client.ts';
import { JSON_TYPE, sendCallerError, sendOAuthError } from './errors.ts';
import { parseForms } from './form.ts';
import { issueToken } from './grants.ts';
import { introspect } from './introspection.ts';
import { describeServer, readKeySet } from './metadata.ts';
import { oauthResponses } from './openapi.ts';
import {
  FORM_BYTES,
  Introspection,
  IntrospectionRequest,
  IssuedToken,
  KeySet,
  Metadata,
  TokenRequest,
} from './schema.ts';

interface OAuthDependencies extends AuthDependencies, Dependencies {
  tokens: TokenReader;
  apiKeys: KeyReader;
}

const tags = ['OAuth'];
const notStored = { 'cache-control': 'no-store', pragma: 'no-cache' };
const consumes = ['application/x-www-form-urlencoded'];
/** Shorter than the time for which a new key is published before it signs (auth/signing-keys.ts). */
const CACHE_CONTROL = 'public, max-age=600';

/** Clients may add parameters, for example to bypass a cache. */
const cacheable = { ignoresUnknownParameters: true };

/** The operations whose format the OAuth standards define. Their responses have no envelope. */
export async function oauthRoutes(app: App, deps: OAuthDependencies): Promise<void> {
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

  // The key of a client that has authenticated itself.
  app.decorateRequest('token', null as never);
  const limit = createLimiter(deps);
  recordKeyUses(app, deps.db);
  app.post(
    '/auth/token',
    {
      bodyLimit: FORM_BYTES,
      schema: {
        tags,
        consumes,
        operationId: 'issueToken',
        summary: 'Exchange an API key or a refresh token for an access token (RFC 6749)',
        security: [],
        body: TokenRequest,
        response: oauthResponses(IssuedToken, { errors: [400, 401] }),
      },
      // The load shedder has counted the request against the share of its address by now, as it does with logins.
      preHandler: [
        async (request) => {
          const credentials = readCredentials(request.headers.authorization, request.body);
          if (credentials) request.token = await findClient(deps.apiKeys, credentials, request.ip);
        },
        (request, reply, done) => (request.token ? limit(request, reply, done) : done()),
      ],
    },
    async (request, reply) => {
      const client = request.token?.keyId === undefined ? undefined : request.token;
      const issued = await issueToken(deps, client, request.body, addressKey(request.ip ?? ''));
      reply.headers(notStored);
      return issued;
    },
  );
}

/**
 * The operation that programs call with an API key. It accepts the key, or an access token of it, as a bearer token, or the key
 * with its id as HTTP Basic.
 */
export async function introspectionRoutes(app: App, deps: OAuthDependencies): Promise<void> {
  app.setErrorHandler(sendCallerError);
  parseForms(app);
  app.decorateRequest('clientId', null);
  app.addHook('onRequest', async (request) => acceptBasic(request));
  requireToken(app, deps.tokens, deps.apiKeys);
  app.addHook('onRequest', async ({ clientId, token }) => {
    if (clientId !== null && token.keyId !== clientId) throw unknownClient();
  });
  limitRequests(app, deps);
  checkRefusedKeys(app, deps.db);
  recordKeyUses(app, deps.db);
  app.post(
    '/auth/introspect',
    {
      bodyLimit: FORM_BYTES,
      config: { requires: 'check' },
      schema: {
        tags,
        consumes,
        operationId: 'introspectToken',
        summary: 'Ask whether a token is valid, and for whom (RFC 7662)',
        description: 'Only for API keys. A token of a tenant outside the caller’s subtree gets `{"active":false}`.',
        body: IntrospectionRequest,
        response: oauthResponses(Introspection, { errors: [400, 401, 403] }),
      },
    },
    async (request, reply) => {
      const answer = await introspect(deps, request, request.body.token);
      reply.headers(notStored);
      return answer;
    },
  );
}

/** Turns HTTP Basic into the bearer token that it stands for. */
function acceptBasic(request: FastifyRequest): void {
  const { authorization = '' } = request.headers;
  if (!/^basic /i.test(authorization)) return;
  const { clientId, secret } = decodeBasic(authorization);
  if (!isKey(secret)) throw unknownClient();
  request.clientId = clientId;
  request.headers.authorization = `Bearer ${secret}`;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The id that a client sent with HTTP Basic. */
    clientId: string | null;
  }
}

function sendCacheable(document: object, request: FastifyRequest, reply: FastifyReply) {
  const content = Buffer.from(JSON.stringify(document));
  sendContent({ type: JSON_TYPE, content, compressed: [], etag: etagOfText(content) }, request, reply, CACHE_CONTROL);
  return reply as never;
}
