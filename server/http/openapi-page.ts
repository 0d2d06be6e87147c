import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { version } from '../version.ts';
import { type GeneratedDocument, shareComponents } from './openapi-document.ts';
import { createContent, sendContent } from './static-content.ts';

/** Serves /openapi.json, generated from the schemas that validate requests, and Swagger UI at /docs without a CDN. */
export async function registerOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    transformObject: (document) =>
      'openapiObject' in document ? shareComponents(document.openapiObject as unknown as GeneratedDocument) : {},
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Banyan',
        version,
        summary: 'Organization service: departments, tenants, users',
        description: introduction,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This service' }],
      tags: [
        { name: 'Departments', description: 'The department tree of a tenant' },
        { name: 'Tenants', description: 'The tree of tenants and their service periods' },
        { name: 'Users', description: 'User accounts and their departments' },
        { name: 'Changes', description: 'Audit log, change feed, revert' },
        { name: 'API keys', description: 'Keys with which programs call the service' },
        { name: 'Quotas', description: 'What tenants may use and have used' },
        { name: 'Webhooks', description: 'Endpoints that are notified of changes' },
        { name: 'Authentication', description: 'Login, sessions and the caller’s own account' },
        {
          name: 'OAuth',
          description: 'Tokens for other software',
        },
        { name: 'Operations', description: 'Health checks and version, for operators' },
      ],
      components: {
        securitySchemes: {
          token: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'From POST /auth/login, or an API key',
          },
        },
      },
    },
  });
  // Rendered at the first request, not at the start, and then sent from memory.
  let content: ReturnType<typeof createContent> | undefined;
  const render = () => {
    content ??= createContent('application/json; charset=utf-8', Buffer.from(JSON.stringify(app.swagger())));
    return content;
  };
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    sendContent(await render(), request, reply, 'no-cache');
    return reply;
  };
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // The page reads the document from its own path: send the same bytes there.
    uiHooks: {
      preHandler: async (request, reply) => {
        if (request.routeOptions.url === '/docs/json') await send(request, reply);
      },
    },
    staticCSP: true,
    // Load nothing from other origins. Omit upgrade-insecure-requests: trial installations often use plain http.
    transformStaticCSP: () =>
      "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    uiConfig: {
      layout: 'BaseLayout',
      docExpansion: 'list',
      tryItOutEnabled: true,
      // Keep the token in the page's memory only: the next user of the browser must not find it.
      persistAuthorization: false,
      displayRequestDuration: true,
    },
    theme: { title: 'Banyan 榕树: API reference' },
  });
  app.get('/openapi.json', { schema: { hide: true } }, send);
}

const introduction = `
Every response has the header \`X-Request-Id\`: quote it when you report a problem. Every response except files, event streams
and those of OAuth operations has the envelope \`{code, msg, data}\`. An error has its HTTP status as \`code\`, a message in \`msg\`
(Chinese, or English if \`Accept-Language\` prefers it; \`Content-Language\` says which), and in \`data\` a stable error code,
\`reason\`, with its details. With \`Accept: application/problem+json\` errors are problem details (RFC 9457, schema
\`Problem\`). The response \`default\` lists the errors that all operations share, of all statuses.

Administrators have all permissions; members have \`dept:read\`, and may manage their own account.

To try operations here, run *POST /auth/login*, press *Authorize* and paste \`access_token\`.

An unknown path returns 404 \`PATH_NOT_FOUND\`, an unsupported method 405 \`METHOD_NOT_ALLOWED\`.
`;
