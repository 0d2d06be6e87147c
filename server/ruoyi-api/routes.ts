import type { FastifyRequest } from 'fastify';
import type { App } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { callerRoutes } from './caller-routes.ts';
import { hidden, type RuoyiDependencies } from './context.ts';
import { deptRoutes } from './dept-routes.ts';
import { notOffered, rejectEncrypted, sendRuoyiError } from './responses.ts';
import { rejectNotStored } from './schema.ts';
import { tenantRoutes } from './tenant-routes.ts';
import { userRoutes } from './user-routes.ts';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

/**
 * The calls that plus-ui, the front end of RuoYi-Vue-Plus 5.x, makes for login, departments, users and tenants. They follow the
 * same rules as our own routes and act in the caller's tenant (docs/ruoyi-api.md). This function registers those that require no
 * access token.
 */
export async function publicRuoyiRoutes(app: App, { config }: RuoyiDependencies): Promise<void> {
  app.setErrorHandler(sendRuoyiError);
  app.addHook('onRequest', async (request) => rejectEncrypted(request));

  // Guessing is stopped by brute-force protection (auth/throttle.ts), so there is no captcha.
  app.get('/auth/code', { schema: hidden('ReadCaptcha') }, async () => ok({ captchaEnabled: false }));
  // Anyone can call this, so it shows only the tenants that the operator has chosen.
  app.get('/auth/tenant/list', { schema: hidden('ListLoginTenants') }, async () =>
    ok({ tenantEnabled: true, voList: config.ruoyiTenants.map((tenant) => ({ ...tenant, domain: null })) }),
  );
  // There is no stream to close. Front ends call this whenever they log out.
  app.get('/resource/sse/close', { schema: hidden('CloseStream') }, async () => ok(null));
  rejectPaths(app, ['/auth/register', '/auth/social/callback', '/auth/binding/*', '/auth/unlock/*', '/resource/*']);
}

/** The routes that require an access token or an API key, which their parent scope has verified. */
export async function ruoyiRoutes(app: App, deps: RuoyiDependencies): Promise<void> {
  app.setErrorHandler(sendRuoyiError);
  app.addHook('onRequest', async (request) => rejectEncrypted(request));
  app.addHook('preValidation', async (request) => {
    request.body = withoutEmpty(request.body);
  });
  app.addHook('preHandler', async ({ body, query }) => {
    rejectNotStored(query as object);
    if (isObject(body)) rejectNotStored(body);
  });
  callerRoutes(app, deps);
  deptRoutes(app, deps);
  userRoutes(app, deps);
  tenantRoutes(app, deps);
  rejectPaths(
    app,
    [
      ...['dept', 'user', 'tenant', 'role', 'post', 'menu', 'dict', 'config', 'notice', 'oss', 'client', 'social'].map(
        (name) => `/system/${name}/*`,
      ),
      // Register these two paths, or the route of a tenant’s id would match them.
      '/system/tenant/syncTenantPackage',
      '/system/tenant/syncTenantDict',
      ...['role', 'post', 'menu', 'config', 'notice', 'client'].map((name) => `/system/${name}`),
      ...['monitor', 'tool', 'workflow', 'demo'].map((name) => `/${name}/*`),
    ],
    'self',
  );
}

/** Answers all other calls of the front end with `RUOYI_NOT_OFFERED`, before their bodies are read. */
function rejectPaths(app: App, paths: string[], requires?: 'self'): void {
  const onRequest = async (request: FastifyRequest) => {
    throw notOffered(`${request.method} ${request.url.split('?')[0]?.slice(0, 200)}`);
  };
  for (const url of paths) {
    app.route({
      method: METHODS,
      url,
      ...(requires ? { config: { requires } } : {}),
      schema: { hide: true },
      onRequest,
      handler: async () => {},
    });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Forms send these fields empty when nothing was chosen or typed. */
const EMPTY_MEANS_UNSET = ['deptId', 'parentId', 'packageId', 'expireTime', 'password'];

/** As in RuoYi, null leaves a field as it is. An empty string is stored, except for these fields. */
function withoutEmpty(body: unknown): unknown {
  if (!isObject(body)) return body;
  const entries = Object.entries(body).filter(
    ([name, value]) => value !== null && !(value === '' && EMPTY_MEANS_UNSET.includes(name)),
  );
  return Object.fromEntries(entries);
}
