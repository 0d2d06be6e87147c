import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AuthDependencies, logIn } from '../auth/login.ts';
import { type LoginHooks, loginOrigin } from '../auth/routes.ts';
import type { Login } from '../auth/schema.ts';
import { ok } from '../http/envelope.ts';
import { notOffered, rejectEncrypted, sendLoginError } from './responses.ts';

/** The body of a login as RuoYi's front ends send it. It has our fields too. */
type RuoyiLogin = Login & { clientId: string; grantType: string };

/** Our own clients send neither of these two fields. */
const isRuoyiLogin = ({ body }: FastifyRequest): boolean => {
  const { clientId, grantType } = { ...(body as object) } as Record<string, unknown>;
  return typeof clientId === 'string' && typeof grantType === 'string';
};

const isEncrypted = ({ headers }: FastifyRequest) => headers['encrypt-key'] !== undefined;

/**
 * Answers logins of RuoYi's front ends, which use the same path as ours: with RuoYi's fields, and errors with the HTTP status
 * 200. Other logins are left to the route.
 */
export const ruoyiLogin = (deps: AuthDependencies): LoginHooks => ({
  async onRequest(request) {
    rejectEncrypted(request);
  },
  // Before the body is validated: other grant types have other fields.
  async preValidation(request) {
    if (!isRuoyiLogin(request)) return;
    const { grantType } = request.body as RuoyiLogin;
    if (grantType !== 'password') throw notOffered(`grantType ${grantType.slice(0, 50)}`);
  },
  async preHandler(request, reply) {
    if (!isRuoyiLogin(request)) return;
    const { clientId, tenantId, username, password } = request.body as RuoyiLogin;
    const { tokens, seconds } = await logIn(deps, loginOrigin(request), { tenantId, username, password });
    const answer = ok({
      access_token: tokens.access_token,
      refresh_token: tokens.refresh_token,
      expire_in: tokens.expires_in,
      refresh_expire_in: seconds,
      client_id: clientId,
      scope: null,
      openid: null,
    });
    // As text, because the schema of the route has other fields.
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer));
  },
  errorHandler(error, request, reply: FastifyReply) {
    if (!isEncrypted(request) && !isRuoyiLogin(request)) throw error;
    return sendLoginError(error, request, reply);
  },
});

/**
 * Whether a logout comes from a RuoYi front end. It forgets its token only when the logout succeeds. If the logout failed because
 * the session has ended already, the front end would never show the login page again.
 */
export const isRuoyiLogout = ({ headers }: FastifyRequest): boolean => headers.clientid !== undefined;
