import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../http/refusals.ts';
import { type ConsoleFile, readFiles } from './files.ts';

/** From dist/server/console. */
const BUILT = new URL('../../console/', import.meta.url);

/** The screens, by the first part of their address. The page itself knows the rest. */
const SCREEN = /^\/(?:(?:login|home|me)\/?|(?:departments|chart|tenants|people|changes)(?:\/.*)?)?$/;

/**
 * The console: every file that its build left, and its page at the address of every screen. It takes only what no
 * operation takes, so that the interface stays as it is, refusals of unknown paths included.
 */
export class ConsolePages {
  private readonly files: Map<string, ConsoleFile>;
  private readonly page: string | undefined;

  constructor(folder: URL = BUILT) {
    this.files = readFiles(folder);
    this.page = this.files.get('/index.html')?.content.toString('utf8');
    this.files.delete('/index.html');
  }

  /** Whether it was answered. Throws to refuse a screen where no console was built. */
  answer(request: FastifyRequest, reply: FastifyReply): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const path = request.url.split('?')[0] as string;
    const file = this.files.get(path);
    if (file) {
      sendFile(file, request, reply, path.startsWith('/assets/'));
      return true;
    }
    // Programs, which ask for anything or for JSON, are told in the envelope that there is no such path.
    if (!SCREEN.test(path) || !/\btext\/html\b/i.test(request.headers.accept ?? '')) return false;
    if (this.page === undefined) throw refuse('CONSOLE_NOT_BUILT');
    sendPage(this.page, reply);
    return true;
  }
}

/** `lasting`: its name has a hash of its content, so what is under this name never changes. */
function sendFile(file: ConsoleFile, request: FastifyRequest, reply: FastifyReply, lasting: boolean): void {
  const taken = String(request.headers['accept-encoding'] ?? '');
  const packed = file.packed.find(({ encoding }) => takes(taken, encoding));
  if (file.packed.length > 0) reply.header('vary', 'accept-encoding');
  if (packed) reply.header('content-encoding', packed.encoding);
  reply
    .header('cache-control', lasting ? 'public, max-age=31536000, immutable' : 'no-cache')
    .type(file.type)
    .send(packed?.content ?? file.content);
}

const takes = (accepted: string, encoding: string) =>
  accepted.split(',').some((part) => new RegExp(`^\\s*${encoding}\\s*(;\\s*q=(?!0(\\.0*)?\\s*$)|$)`, 'i').test(part));

/** Styles that the page makes by itself carry a number that is another one each time; scripts come from files alone. */
function sendPage(page: string, reply: FastifyReply): void {
  const nonce = randomBytes(16).toString('base64');
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ];
  reply
    .header('content-security-policy', policy.join('; '))
    .header('cache-control', 'no-cache')
    .header('vary', 'accept')
    .type('text/html; charset=utf-8')
    .send(page.replaceAll('__CSP_NONCE__', nonce));
}
