import { isUtf8 } from 'node:buffer';
import type { App } from '../context.ts';
import { OAuthError } from './errors.ts';

/** Makes the operations of this scope read forms instead of JSON (RFC 6749, appendix B). */
export function parseForms(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      if ((request.headers['content-encoding'] ?? 'identity') !== 'identity' || !isUtf8(body)) {
        return done(new OAuthError('invalid_request', 'The body must be UTF-8 without a content encoding.'), undefined);
      }
      const sent = new Map<string, string>();
      for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
        if (sent.has(name))
          return done(new OAuthError('invalid_request', `Repeated parameter: ${name.slice(0, 50)}`), undefined);
        sent.set(name, value);
      }
      // A parameter without a value counts as omitted (RFC 6749 3.2).
      done(null, Object.fromEntries([...sent].filter(([, value]) => value !== '')));
    },
  );
}
