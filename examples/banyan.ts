import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

/** The envelope of every response. `data` of an error has a stable code in `reason`. */
interface Envelope<T> {
  code: number;
  msg: string;
  data: T;
}

/** An error response of the service. */
export class BanyanError extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, message: string, reason: string) {
    super(`${status} ${reason}: ${message}`);
    this.status = status;
    this.reason = reason;
  }
}

const MAX_ATTEMPTS = 6;

/**
 * Calls the service and returns `data`. A request that got no response, or that the service was too busy for, is sent
 * again: after the time that `Retry-After` names, otherwise after 0.5, 1, 2, 4 and 8 seconds. Every write has an
 * Idempotency-Key that stays the same for all attempts, so it takes effect once even if only its response was lost.
 */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${required('BANYAN_KEY')}`,
    'accept-language': 'en',
  };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (method !== 'GET') headers['idempotency-key'] = randomUUID();
  const request = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${required('BANYAN_URL').replace(/\/$/, '')}${path}`, request).catch(
      (error: Error) => error,
    );
    const isLast = attempt === MAX_ATTEMPTS;
    if (response instanceof Error) {
      if (isLast) throw response;
    } else {
      // An error of a proxy in front of the service is not JSON.
      const envelope = (await response.json().catch(() => undefined)) as Envelope<unknown> | undefined;
      // With BANYAN_ERROR_STATUS=200 errors have the status 200, and only `code` tells them apart.
      const status = envelope?.code ?? response.status;
      if (response.ok && status === 200) return envelope?.data as T;
      const isTemporary = [408, 429, 502, 503, 504].includes(status);
      if (!isTemporary || isLast) {
        const { reason = '' } = (envelope?.data ?? {}) as { reason?: string };
        throw new BanyanError(status, envelope?.msg ?? response.statusText, reason);
      }
    }
    const seconds = response instanceof Error ? 0 : Number(response.headers.get('retry-after'));
    await setTimeout(seconds > 0 ? seconds * 1000 : 250 * 2 ** attempt);
  }
}

/** Reads a setting from the environment. */
export function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name}.`);
  return value;
}
