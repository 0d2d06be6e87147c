import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config.ts';
import { answerTo, requestIdOf } from './envelope.ts';
import { type Refusal, refuse } from './refusals.ts';

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

/** Of a request whose body was still on its way; otherwise the language, as far as it can be read in what was sent. */
export function headersIn(error: Error, arriving: IncomingMessage | undefined): IncomingHttpHeaders {
  if (arriving) return arriving.headers;
  const { rawPacket } = error as Error & { rawPacket?: Buffer };
  const [, wish] = /\r\naccept-language: *([^\r\n]*)/i.exec(rawPacket?.toString('latin1') ?? '') ?? [];
  return wish === undefined ? {} : { 'accept-language': wish };
}

/** What Node's parser refuses never becomes a request; it gets the same answer as others all the same. */
export function answerBroken(
  refusal: Refusal | undefined,
  socket: Socket,
  config: Config,
  asked: IncomingHttpHeaders = {},
): void {
  if (!refusal || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = answerTo(refusal, asked, requestIdOf({ headers: asked }), config);
  const all = { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} Refused`, ...lines, '', body].join('\r\n'));
}
