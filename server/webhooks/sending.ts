import { createHmac, randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { version } from '../version.ts';
import { AddressError, type ResolveTarget } from './addresses.ts';

/**
 * Makes one delivery attempt: signs the message according to Standard Webhooks and sends it to an address that was
 * checked. Redirects are not followed.
 */

const MAX_RESPONSE_BYTES = 1_000;
/** The status decides the outcome. The body is only shown to administrators, so it gets little time. */
const BODY_MS = 1_000;

export interface Message {
  id: string;
  url: string;
  body: string;
  /** All valid secrets. Each adds a signature. */
  secrets: Buffer[];
  /** The trace of the request that made the change. */
  traceparent?: string | undefined;
}

export interface Outcome {
  status: number | null;
  responseText: string | null;
  error: string | null;
  ms: number;
  /** false: there was nothing to send. Such an attempt is the last one, and says nothing about the receiver. */
  sent: boolean;
}

export const CHANGE_UNAVAILABLE: Outcome = {
  status: null,
  responseText: null,
  error: 'the change is no longer available',
  ms: 0,
  sent: false,
};

export const generateSecret = (): Buffer => randomBytes(32);
export const formatSecret = (secret: Buffer): string => `whsec_${secret.toString('base64')}`;

/** Returns the value of the `webhook-signature` header. */
function sign({ id, body, secrets }: Message, timestamp: number): string {
  const hmacs = secrets.map((secret) => createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`));
  return hmacs.map((hmac) => `v1,${hmac.digest('base64')}`).join(' ');
}

/** Sends a message. Errors are part of the outcome. Rejects only if `stop` is aborted: then the outcome is unknown. */
export async function send(
  resolveTarget: ResolveTarget,
  message: Message,
  responseMs: number,
  stop: AbortSignal,
): Promise<Outcome> {
  const start = performance.now();
  const controller = new AbortController();
  const { signal } = controller;
  const abort = () => controller.abort();
  const timer = setTimeout(abort, responseMs);
  stop.addEventListener('abort', abort);
  const outcome = (known: Partial<Outcome>): Outcome => ({
    status: null,
    responseText: null,
    error: null,
    ...known,
    sent: true,
    ms: Math.round(performance.now() - start),
  });
  try {
    // Enforce the deadline here too, whatever state the connection is in.
    return outcome(
      await rejectOnAbort(
        post(resolveTarget, message, signal, () => clearTimeout(timer)),
        signal,
      ),
    );
  } catch (error) {
    stop.throwIfAborted();
    if (signal.aborted) return outcome({ error: `no response within ${responseMs / 1000} seconds` });
    return outcome({ error: describeError(error as NodeJS.ErrnoException) });
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', abort);
  }
}

async function post(
  resolveTarget: ResolveTarget,
  message: Message,
  signal: AbortSignal,
  onResponse: () => void,
): Promise<{ status: number; responseText: string }> {
  // Resolve and check again, and connect to exactly these addresses: the name may have changed since registration.
  const { url, addresses } = await rejectOnAbort(resolveTarget(message.url), signal);
  const { request } = url.protocol === 'https:' ? https : http;
  const timestamp = Math.floor(Date.now() / 1000);
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: 'POST',
      agent: false,
      signal,
      lookup: (_name, options, done) => {
        const { address, family } = addresses[0] as (typeof addresses)[number];
        if (options.all) done(null, addresses);
        else done(null, address, family);
      },
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(message.body),
        'user-agent': `Banyan/${version}`,
        'webhook-id': message.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': sign(message, timestamp),
        ...(message.traceparent && { traceparent: message.traceparent }),
      },
    });
    outgoing.on('error', reject);
    // The connection may close without an error, and after a status 101 there is no response event.
    outgoing.on('close', () => reject(new Error('connection closed without a response')));
    outgoing.on('response', (response) => {
      onResponse();
      outgoing.removeAllListeners('close');
      const chunks: Buffer[] = [];
      let length = 0;
      const finish = () => {
        clearTimeout(bodyTimer);
        resolve({ status: response.statusCode ?? 0, responseText: decode(Buffer.concat(chunks)) });
        outgoing.destroy();
      };
      const bodyTimer = setTimeout(finish, BODY_MS);
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length >= MAX_RESPONSE_BYTES) finish();
      });
      response.on('end', finish);
      response.on('error', finish);
    });
    outgoing.end(message.body);
  });
}

const rejectOnAbort = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });

/** Replaces null characters, which PostgreSQL cannot store. */
const decode = (bytes: Buffer) => bytes.subarray(0, MAX_RESPONSE_BYTES).toString('utf8').replaceAll('\0', '\ufffd');

function describeError(error: NodeJS.ErrnoException): string {
  if (error instanceof AddressError) return 'the host does not resolve, or resolves to a network that is not allowed';
  return `${error.code ?? error.name}: ${error.message}`.replaceAll('\0', '').slice(0, 300);
}
