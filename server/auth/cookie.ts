import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../http/refusals.ts';

/**
 * A browser keeps its refresh token in a cookie that no script can read, and sends it to /auth alone. There it opens
 * nothing but POST /auth/refresh: every other operation asks for the access token, which no browser adds by itself.
 */
const NAME = 'banyan_session';

export function cookieOf({ headers }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${NAME}=`))?.slice(NAME.length + 1);
}

export const setCookie = (reply: FastifyReply, token: string, seconds: number) =>
  reply.header('set-cookie', cookie(reply.request, token, seconds));

export const clearCookie = (reply: FastifyReply) => reply.header('set-cookie', cookie(reply.request, '', 0));

/** The tokens as a browser gets them: what is worth stealing goes into the cookie. */
export function intoCookie<T extends { refresh_token?: string }>(reply: FastifyReply, tokens: T, seconds: number) {
  const { refresh_token, ...rest } = tokens;
  if (refresh_token) setCookie(reply, refresh_token, seconds);
  return rest;
}

// Over plain http a browser drops a Secure cookie, and many a service is tried out in an office network.
const cookie = ({ protocol }: FastifyRequest, value: string, seconds: number) =>
  `${NAME}=${value}; Path=/auth; HttpOnly; SameSite=Strict; Max-Age=${seconds}${protocol === 'https' ? '; Secure' : ''}`;

/** SameSite=Strict keeps other sites away, but not the neighbours below the same domain. Not every caller is a browser. */
export function refuseOtherSites({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw refuse('OTHER_SITE');
}
