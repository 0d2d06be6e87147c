import type { Change } from './generated/types.ts';

export type WebhookMessage =
  | { type: string; timestamp: string; data: Change }
  | { type: 'webhook.test'; timestamp: string; data: null };

/** The message does not come from the service, has been changed, or is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookOptions {
  /** Older messages are rejected: somebody else may have recorded them and sent them again. Default: 300. */
  toleranceSeconds?: number;
  /** The current time in milliseconds. */
  now?: () => number;
}

/**
 * Verifies a message according to Standard Webhooks and returns it. `body` is the body as it arrived: parsing and
 * serializing it would change it. Messages may arrive more than once, so remember `id`.
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceSeconds = 300, now = Date.now }: WebhookOptions = {},
): Promise<{ id: string; message: WebhookMessage }> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError('The message is too old or from the future.');
  const encoder = new TextEncoder();
  const content = typeof body === 'string' ? encoder.encode(body) : body;
  const signed = concat(encoder.encode(`${id}.${timestamp}.`), content);
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', decode(secret.replace(/^whsec_/, '')), hmac, false, ['verify']);
  for (const signature of signatures) {
    // While the secret is being rotated there are two signatures. `verify` compares in constant time.
    const [version, value = ''] = signature.split(',', 2);
    if (version !== 'v1' || !isBase64(value)) continue;
    if (await crypto.subtle.verify('HMAC', key, decode(value), signed))
      return { id, message: JSON.parse(new TextDecoder().decode(content)) };
  }
  throw new WebhookVerificationError('No signature of the message is valid.');
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : (headers as Record<string, string | readonly string[] | undefined>)[name];
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

const isBase64 = (text: string) => /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0;

const decode = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
