import type { FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../http/errors.ts';
import type { IssuedTokens } from './login.ts';
import type { Tokens } from './schema.ts';

/**
 * Browsers keep the refresh token in a cookie that scripts cannot read. It is accepted for refresh and logout only: all other
 * operations require the access token, which browsers never add by themselves.
 *
 * Over https, the prefix `__Host-` makes browsers reject a cookie of this name that another subdomain or a page without https
 * tries to set. It requires `Path=/`. Browsers drop such a cookie over plain http, which trial installations often use; there
 * the cookie has a plain name and is only sent to /auth.
 */
const cookieType = ({ protocol }: FastifyRequest) =>
  protocol === 'https'
    ? { name: '__Host-banyan_session', attributes: 'Path=/; Secure' }
    : { name: 'banyan_session', attributes: 'Path=/auth' };

/**
 * Returns the session cookie of a request. A request with two is rejected: over plain http, a page of a sibling domain can
 * add one that logs the user in as someone else, and nothing says which one is ours.
 */
export function cookieOf(request: FastifyRequest): string | undefined {
  const [cookie, ...others] = cookiesOf(request);
  if (others.length > 0) throw apiError('DUPLICATE_COOKIE');
  return cookie;
}

function cookiesOf(request: FastifyRequest): string[] {
  const { name } = cookieType(request);
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}

const setCookie = (reply: FastifyReply, token: string, seconds: number) => {
  const { name, attributes } = cookieType(reply.request);
  reply.header('set-cookie', `${name}=${token}; ${attributes}; HttpOnly; SameSite=Strict; Max-Age=${seconds}`);
};

/** Clears the session cookie, unless the request has two: the other one, which may not be ours, would be used from then on. */
export const clearCookie = (reply: FastifyReply) => {
  if (cookiesOf(reply.request).length <= 1) setCookie(reply, '', 0);
};

/** Clears the session cookie if the request carried one. */
export const clearSentCookie = (reply: FastifyReply) => {
  if (cookiesOf(reply.request).length > 0) clearCookie(reply);
};

/** Moves the refresh token from the response body to the cookie, out of reach of scripts. */
export function moveRefreshTokenToCookie(reply: FastifyReply, { tokens, seconds }: IssuedTokens): Tokens {
  const { refresh_token, ...rest } = tokens;
  setCookie(reply, refresh_token, seconds);
  return rest;
}

/**
 * Rejects requests of other origins: SameSite=Strict still allows subdomains of the same site. Clients that are not
 * browsers do not send the header.
 */
export function assertSameOrigin({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw apiError('OTHER_SITE');
}
