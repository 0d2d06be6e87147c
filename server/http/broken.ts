import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Config } from '../config.ts';
import { asEnvelope, everyAnswer } from './envelope.ts';
import { languageOf } from './language.ts';
import { type Language, type Refusal, refuse } from './refusals.ts';

export function brokenBy({ code }: Error & { code?: string }): Refusal | undefined {
  switch (code) {
    case 'ECONNRESET':
      return undefined;
    case 'HPE_INVALID_URL':
      return refuse('ADDRESS_NOT_ENCODED');
    case 'HPE_HEADER_OVERFLOW':
      return refuse('HEADERS_TOO_LARGE');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuse('REQUEST_TIMEOUT');
    default:
      return refuse('BAD_REQUEST', { cause: 'HTTP' });
  }
}

/** As far as it can be read in what was sent. */
export function languageIn(error: Error): Language {
  const { rawPacket } = error as Error & { rawPacket?: Buffer };
  const [, wish] = /\r\naccept-language: *([^\r\n]*)/i.exec(rawPacket?.toString('latin1') ?? '') ?? [];
  return languageOf({ 'accept-language': wish });
}

/** What Node's parser refuses never becomes a request; it gets the envelope all the same. */
export function answerBroken(
  refusal: Refusal | undefined,
  socket: Socket,
  config: Config,
  language: Language = 'zh',
): void {
  if (!refusal || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(asEnvelope(refusal, language));
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
