import type { FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../http/errors.ts';

/**
 * Browsers keep the refresh token in a cookie that scripts cannot read and that is only sent to /auth. It is accepted for
 * refresh and logout only: all other operations require the access token, which browsers never add by themselves.
 */
const NAME = 'banyan_session';

export function cookieOf({ headers }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${NAME}=`))?.slice(NAME.length + 1);
}

export const setCookie = (reply: FastifyReply, token: string, seconds: number) =>
  reply.header('set-cookie', cookie(reply.request, token, seconds));

export const clearCookie = (reply: FastifyReply) => reply.header('set-cookie', cookie(reply.request, '', 0));

/** Moves the refresh token from the response body to the cookie, out of reach of scripts. */
export function moveRefreshTokenToCookie<T extends { refresh_token?: string }>(
  reply: FastifyReply,
  tokens: T,
  seconds: number,
) {
  const { refresh_token, ...rest } = tokens;
  if (refresh_token) setCookie(reply, refresh_token, seconds);
  return rest;
}

// Browsers drop a Secure cookie over plain http, which trial installations often use.
const cookie = ({ protocol }: FastifyRequest, value: string, seconds: number) =>
  `${NAME}=${value}; Path=/auth; HttpOnly; SameSite=Strict; Max-Age=${seconds}${protocol === 'https' ? '; Secure' : ''}`;

/**
 * Rejects requests of other origins: SameSite=Strict still allows subdomains of the same site. Clients that are not
 * browsers do not send the header.
 */
export function assertSameSite({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw apiError('OTHER_SITE');
}
