import { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config.ts';
import { renderError, requestIdOf } from './envelope.ts';
import { type ApiError, apiError } from './errors.ts';

/** The error for a request that Node could not parse or receive; undefined if the client has disconnected. */
export function clientErrorOf({ code }: Error & { code?: string }): ApiError | undefined {
  switch (code) {
    case 'ECONNRESET':
      return undefined;
    case 'HPE_INVALID_URL':
      return apiError('ADDRESS_NOT_ENCODED');
    case 'HPE_HEADER_OVERFLOW':
      return apiError('HEADERS_TOO_LARGE');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return apiError('REQUEST_TIMEOUT');
    default:
      return apiError('BAD_REQUEST', { cause: { zh: '不是有效的 HTTP 请求', en: 'it is not valid HTTP' } });
  }
}

/**
 * Returns the header that makes a request ambiguous, so that a proxy might have understood it differently: several Host
 * headers, or a transfer encoding that HTTP/1.0 does not have.
 */
export function findAmbiguousHeader({ headers, rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  if (headers['transfer-encoding'] !== undefined && httpVersion === '1.0') return 'Transfer-Encoding';
  let hosts = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n] as string;
    if (name.length === 4 && name.toLowerCase() === 'host' && ++hosts > 1) return 'Host';
  }
  return undefined;
}

/** The headers of the request if only its body failed; otherwise the language, if the received bytes contain it. */
export function headersOfFailedRequest(error: Error, arriving: IncomingMessage | undefined): IncomingHttpHeaders {
  if (arriving) return arriving.headers;
  const { rawPacket } = error as Error & { rawPacket?: Buffer };
  const [, language] = /\r\naccept-language: *([^\r\n]*)/i.exec(rawPacket?.toString('latin1') ?? '') ?? [];
  return language === undefined ? {} : { 'accept-language': language };
}

/** Writes an error to the socket. Requests that Node's parser rejects never reach Fastify, but get the same format. */
export function respondToClientError(
  error: ApiError,
  socket: Socket,
  config: Config,
  requestHeaders: IncomingHttpHeaders = {},
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = requestIdOf({ headers: requestHeaders });
  const { status, headers, body } = renderError(error, requestHeaders, requestId, config);
  const all = { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
}
