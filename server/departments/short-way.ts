import type { IncomingMessage, ServerResponse } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import type { TokenReader } from '../auth/tokens.ts';
import type { Config } from '../config.ts';
import { everyAnswer, okAround, requestIdOf } from '../http/envelope.ts';
import type { ShortWay } from '../http/load.ts';
import type { Answered } from '../http/log.ts';
import { etagOfText } from '../http/preconditions.ts';
import type { DeptReader } from './reading.ts';

const PLAIN = /^\/system\/dept-api\/([1-9]\d{0,15})$/;

/**
 * The call that comes most often, a plain read of one department by somebody whose token was seen before, answered
 * without the framework, which would take more time than all the rest (docs/decisions/0009). It tells what the route
 * tells, or nothing: whoever is refused, whatever is not found, late or unusual goes the long way, as if it had never
 * been here.
 */
export function makeShortWay(parts: {
  tokens: TokenReader;
  read: DeptReader;
  tell: (answered: Answered) => void;
  config: Config;
}): ShortWay | undefined {
  const { tokens, read, tell, config } = parts;
  // What a browser may read is said with every answer, and said by the framework.
  if (config.corsOrigins.length > 0) return undefined;
  const addressOf = makeAddressOf(config);

  return (request) => {
    const { headers } = request;
    const deptId = request.method === 'GET' ? PLAIN.exec(request.url ?? '')?.[1] : undefined;
    if (!deptId || !headers.host || headers.expect || hasBody(request)) return undefined;
    const token = tokens.known(headers.authorization);
    if (!token) return undefined;
    const began = performance.now();
    request.deptAsked = read(token, { deptId, includeDeleted: false });
    return request.deptAsked.then(
      (dept) =>
        dept &&
        ((response) => {
          const requestId = requestIdOf(request);
          send(response, requestId, Buffer.from(JSON.stringify(dept)));
          const ms = performance.now() - began;
          const answered = { requestId, method: 'GET', path: request.url ?? '', status: 200, ms, token, whole: true };
          tell({ ...answered, from: addressOf(request) });
        }),
    );
  };
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

const constant = Object.entries(everyAnswer('')).flat();

/** Each byte as a letter: Node sends that together with the headers as it is, where Chinese would have both encoded anew. */
const asLetters = (bytes: Buffer): string => bytes.toString('latin1');
const before = asLetters(Buffer.from(okAround.before));
const after = asLetters(Buffer.from(okAround.after));

function send(response: ServerResponse, requestId: string, dept: Buffer): void {
  const body = before + asLetters(dept) + after;
  const own = ['etag', etagOfText(dept), 'content-type', 'application/json; charset=utf-8'];
  response.writeHead(200, [...constant.with(1, requestId), ...own, 'content-length', String(body.length)]);
  response.end(body, 'latin1');
}

/** Of the caller, or of the one for whom a trusted proxy calls. */
function makeAddressOf({ trustProxy }: Config): (request: IncomingMessage) => string | undefined {
  if (!trustProxy) return ({ socket }) => socket.remoteAddress;
  const trusted = proxyAddr.compile(trustProxy.split(',').map((address) => address.trim()));
  return (request) => proxyAddr.all(request, trusted).at(-1);
}

declare module 'node:http' {
  interface IncomingMessage {
    /** What was asked for in vain, or is still waited for: the route need not ask again. */
    deptAsked?: ReturnType<DeptReader>;
  }
}
