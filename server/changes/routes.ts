import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App, Parts } from '../app.ts';
import { readInWrite } from '../auth/caller.ts';
import type { TokenReader } from '../auth/tokens.ts';
import { ok } from '../http/envelope.ts';
import { answers, guarded } from '../http/openapi.ts';
import { invalid } from '../http/validation.ts';
import { listChanges, readChanges } from './changes.ts';
import type { Followers } from './following.ts';
import { AuditFilter, AuditPage, ChangePage, FeedFilter, StreamFilter, StreamHeaders } from './schema.ts';
import { tellChanges } from './stream.ts';

const path = '/system/change-api';
const shared = { ...guarded, tags: ['Changes'] };

export function changeRoutes(
  app: App,
  parts: Parts,
  { followers, tokens }: { followers: Followers; tokens: TokenReader },
): void {
  const { db } = parts;
  const read = (request: FastifyRequest, place: { after: number; limit: number; tenantId: string | undefined }) =>
    readInWrite(db, request, 'administrator', (tx, caller) => readChanges(tx, caller, place));

  app.get(
    path,
    {
      schema: {
        ...shared,
        operationId: 'readChanges',
        summary: 'Follow the changes of a tenant',
        description:
          'Administrators. In the order in which they were committed, complete, and for ever: of departments and users, ' +
          'and of the records of this tenant and those below. Send `next` as `after` of the following call. With `wait` ' +
          'the call is answered as soon as there is a change, or when that time is over.',
        querystring: FeedFilter,
        response: answers('guarded', { data: ChangePage, reasons: ['NOT_ALLOWED', 'OTHER_TENANT'] }),
      },
    },
    async (request, reply) => {
      const { after = '0', limit = 100, wait = 0, tenantId } = request.query;
      const place = { after: Number(after), limit, tenantId };
      const until = performance.now() + wait * 1000;
      for (;;) {
        const page = await read(request, place);
        const left = until - performance.now();
        if (page.rows.length > 0 || left <= 0 || followers.closed || reply.raw.destroyed) return ok(page);
        // What it has gone through in vain needs not be looked at again.
        place.after = Number(page.next);
        await followers.news(tenantId ?? request.token.tenantId, place.after, left, goneWith(reply));
      }
    },
  );

  app.get(
    `${path}/stream`,
    {
      schema: {
        ...shared,
        operationId: 'streamChanges',
        summary: 'Follow the changes of a tenant as server-sent events',
        description:
          'Administrators. The same as `GET /system/change-api`, one event for each change: `id` is the cursor behind ' +
          'it, `data` the change. When the time of its access token is over it ends with an event `refused` and the reason ' +
          '`TOKEN_EXPIRED`: connect again with a new one, and with `Last-Event-ID`, and nothing is missed.',
        querystring: StreamFilter,
        headers: StreamHeaders,
        response: answers('guarded', { reasons: ['NOT_ALLOWED', 'OTHER_TENANT'] }),
      },
    },
    async (request, reply) => {
      const { after = '0', tenantId } = request.query;
      const last = request.headers['last-event-id'] || after;
      if (!/^\d{1,18}$/.test(last)) throw invalid('Last-Event-ID', 'cursor');
      const signal = goneWith(reply);
      const pieces = tellChanges(
        followers,
        (place) => read(request, { after: place, limit: 100, tenantId }),
        { tenantId: tenantId ?? request.token.tenantId, after: Number(last) },
        { timeLeft: () => tokens.timeLeft(request.token), heartbeatMs: parts.timing.streamHeartbeatMs, signal },
      );
      // What refuses him refuses before anything is sent.
      const first = await pieces.next();
      const source = Readable.from(begun(first.value ?? '', pieces), { objectMode: false });
      return reply
        .type('text/event-stream; charset=utf-8')
        .header('x-accel-buffering', 'no')
        .send(source as never);
    },
  );

  app.get(
    `${path}/list`,
    {
      schema: {
        ...shared,
        operationId: 'listChanges',
        summary: 'The audit log: who did what, when, and from where',
        description:
          'Administrators, of their tenant and those below. Latest first. Logins too, passed and refused; never a secret.',
        querystring: AuditFilter,
        response: answers('guarded', {
          data: AuditPage,
          reasons: ['NOT_ALLOWED', 'OTHER_TENANT', 'TOO_MANY_LEDGERS'],
        }),
      },
    },
    async (request) =>
      ok(await readInWrite(db, request, 'administrator', (tx, caller) => listChanges(tx, caller, request.query))),
  );
}

async function* begun(first: string, others: AsyncGenerator<string, void>): AsyncGenerator<string, void> {
  yield first;
  yield* others;
}

function goneWith({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const abort = () => gone.abort();
  raw.once('close', () => {
    raw.req.socket.off('close', abort);
    abort();
  });
  // An answer that waits behind others on its connection never closes when that does.
  raw.req.socket.once('close', abort);
  return gone.signal;
}
