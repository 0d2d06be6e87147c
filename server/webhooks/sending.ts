import { createHmac, randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { version } from '../version.ts';
import { AddressRefused, type LookUp } from './addresses.ts';

/** One attempt to deliver: signed as Standard Webhooks says, sent to an address that was looked at, never redirected. */

const ANSWER_BYTES = 1_000;
/** Once the status is there, the rest is only for people to read. */
const BODY_MS = 1_000;

export interface Message {
  id: string;
  url: string;
  body: string;
  /** All that are valid at this moment; a signature by each. */
  secrets: Buffer[];
}

export interface Outcome {
  status: number | null;
  answer: string | null;
  error: string | null;
  ms: number;
}

export const NOTHING_TO_SEND: Outcome = { status: null, answer: null, error: 'the change is not kept any more', ms: 0 };

export const newSecret = (): Buffer => randomBytes(32);
export const shownSecret = (secret: Buffer): string => `whsec_${secret.toString('base64')}`;

export function signaturesOf({ id, body, secrets }: Message, timestamp: number): string {
  const signed = secrets.map((secret) => createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`));
  return signed.map((hmac) => `v1,${hmac.digest('base64')}`).join(' ');
}

/** Fails only when `stop` says so: then nothing is known. */
export async function send(lookUp: LookUp, message: Message, responseMs: number, stop: AbortSignal): Promise<Outcome> {
  const begun = performance.now();
  const giveUp = new AbortController();
  const abort = () => giveUp.abort();
  const clock = setTimeout(abort, responseMs);
  stop.addEventListener('abort', abort);
  const told = (rest: Partial<Outcome>): Outcome => ({
    status: null,
    answer: null,
    error: null,
    ...rest,
    ms: Math.round(performance.now() - begun),
  });
  try {
    // Whatever becomes of the connection, it is over when its time is.
    const { status, answer } = await withSignal(ask(lookUp, message, giveUp.signal), giveUp.signal);
    return told({ status, answer });
  } catch (error) {
    stop.throwIfAborted();
    if (giveUp.signal.aborted) return told({ error: `no answer within ${responseMs / 1000} seconds` });
    return told({ error: wordsFor(error as NodeJS.ErrnoException) });
  } finally {
    clearTimeout(clock);
    stop.removeEventListener('abort', abort);
  }
}

async function ask(lookUp: LookUp, message: Message, signal: AbortSignal): Promise<{ status: number; answer: string }> {
  // Looked at now, and connected to just that: a name may lead elsewhere than when it was registered.
  const { url, addresses } = await withSignal(lookUp(message.url), signal);
  const { request } = url.protocol === 'https:' ? https : http;
  const timestamp = Math.floor(Date.now() / 1000);
  return new Promise((resolve, reject) => {
    const asking = request(url, {
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
        'webhook-signature': signaturesOf(message, timestamp),
      },
    });
    asking.on('error', reject);
    // With or without an error, and for 101 without a response: nobody here speaks another protocol.
    asking.on('close', () => reject(new Error('closed without an answer')));
    asking.on('response', (response) => {
      asking.removeAllListeners('close');
      const chunks: Buffer[] = [];
      let length = 0;
      const finish = () => {
        clearTimeout(clock);
        resolve({ status: response.statusCode ?? 0, answer: textOf(Buffer.concat(chunks)) });
        asking.destroy();
      };
      const clock = setTimeout(finish, BODY_MS);
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length >= ANSWER_BYTES) finish();
      });
      response.on('end', finish);
      response.on('error', finish);
    });
    asking.end(message.body);
  });
}

const withSignal = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });

/** As PostgreSQL can keep it. */
const textOf = (bytes: Buffer) => bytes.subarray(0, ANSWER_BYTES).toString('utf8').replaceAll('\0', '\ufffd');

function wordsFor(error: NodeJS.ErrnoException): string {
  if (error instanceof AddressRefused) return 'the address leads nowhere, or into a network that is not allowed';
  return `${error.code ?? error.name}: ${error.message}`.replaceAll('\0', '').slice(0, 300);
}
