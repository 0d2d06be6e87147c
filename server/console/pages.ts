import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { apiError } from '../http/errors.ts';
import { etagOfText } from '../http/etag.ts';
import { type StaticContent, sendContent } from '../http/static-content.ts';
import { type ConsoleFiles, readConsoleFiles } from './files.ts';

/**
 * The URL paths of the console's screens, as in console/src/routes.tsx. Tenants, webhooks and quotas define the paths below
 * theirs themselves.
 */
const SCREEN_PATH =
  /^\/(?:(?:login|home|me|keys)|(?:departments|chart|people|quotas|webhooks)(?:\/[^/]+)?|tenants(?:\/[^/]+(?:\/edit)?)?|import\/(?:departments|people)|changes(?:\/(?:diff|tree))?|deleted(?:\/[^/]+)?)?\/?$/;

/** Paths that never lead to a page: assets, and `//host`, which a browser would take for another site. */
const NO_PAGE = /^\/(?:\/|assets(?:\/|$))/;

/**
 * Serves the console: the files of its build, and its page at the URL of every screen. It handles only requests that
 * match no operation, so it cannot hide one. At an unknown address a browser gets the page with the status 404: it says that
 * there is no such screen, and shows the navigation.
 */
export class ConsolePages {
  private readonly files: Map<string, StaticContent>;
  private readonly page: string | undefined;

  /** `menuNames` are the names of menus by id (BANYAN_MENU_NAMES). Like all files of the console, they are public. */
  constructor(files: ConsoleFiles = readConsoleFiles(), menuNames: Readonly<Record<string, string>> = {}) {
    this.files = new Map(files);
    const content = Buffer.from(JSON.stringify(menuNames));
    const type = 'application/json; charset=utf-8';
    this.files.set('/menus.json', { type, content, compressed: [], etag: etagOfText(content) });
    this.page = this.files.get('/index.html')?.content.toString('utf8');
    this.files.delete('/index.html');
  }

  /**
   * Returns whether it handled the request. Throws if a screen is requested but the console has not been built. Errors of
   * operations stay JSON: `isOperation` tells whether a path belongs to them.
   */
  handle(request: FastifyRequest, reply: FastifyReply, isOperation: (path: string) => boolean): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const path = request.url.split('?')[0] as string;
    const file = this.files.get(path);
    if (file) {
      // The name of an asset contains a hash of its content, so the content under this name never changes.
      const isAsset = path.startsWith('/assets/');
      sendContent(file, request, reply, isAsset ? 'public, max-age=31536000, immutable' : 'no-cache');
      return true;
    }
    // Only browsers ask for HTML. Other clients get the usual error for an unknown path, as JSON.
    if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) return false;
    const isScreen = SCREEN_PATH.test(path);
    if (!isScreen && (this.page === undefined || NO_PAGE.test(path) || isOperation(path))) return false;
    if (this.page === undefined) throw apiError('CONSOLE_NOT_BUILT');
    sendPage(this.page, reply.code(isScreen ? 200 : 404));
    return true;
  }
}

/** Styles that the page inserts need a nonce, which differs for each response. Scripts are allowed only from files. */
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
