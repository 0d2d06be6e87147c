import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Config } from '../config.ts';
import { asEnvelope, everyAnswer } from './envelope.ts';
import { type Refusal, refuse } from './refusals.ts';

export function brokenBy({ code }: Error & { code?: string }): Refusal | undefined {
  switch (code) {
    case 'ECONNRESET':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      return refuse('HEADERS_TOO_LARGE');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuse('REQUEST_TIMEOUT');
    default:
      return refuse('BAD_REQUEST', { cause: 'HTTP' });
  }
}

/** What Node's parser refuses never becomes a request; it gets the envelope all the same. */
export function answerBroken(refusal: Refusal | undefined, socket: Socket, config: Config): void {
  if (!refusal || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(asEnvelope(refusal, 'zh'));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...everyAnswer(randomUUID()),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const status = config.errorStatus === '200' ? 200 : refusal.status;
  socket.end([`HTTP/1.1 ${status} Refused`, ...lines, '', body].join('\r\n'));
}
