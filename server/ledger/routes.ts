import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { readAs, writeAs } from '../auth/caller.ts';
import type { TokenReader } from '../auth/tokens.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { writeHeaders } from '../http/etag.ts';
import { IdPath, TenantQuery } from '../http/fields.ts';
import { responses } from '../http/openapi.ts';
import { isClientWaiting } from '../http/streaming.ts';
import type { Subscription } from '../http/subscriptions.ts';
import { invalid, pathId } from '../http/validation.ts';
import { listChanges } from './audit.ts';
import { type FeedPage, LATEST, positionOf, readChanges } from './feed.ts';
import type { LedgerResources } from './resources.ts';
import { revertChange } from './revert.ts';
import { AuditFilter, AuditPage, ChangePage, Events, FeedFilter, StreamFilter, StreamHeaders } from './schema.ts';
import { createSealer } from './sealing.ts';
import { streamChanges } from './stream.ts';
import type { FeedSource, Subscribers } from './subscribers.ts';
import { createPositionAssigner, readSubtreeChanges } from './subtree-feed.ts';

const path = '/system/change-api';
const shared = { tags: ['Changes'] };

export function ledgerRoutes(
  app: App,
  deps: Dependencies,
  { resources, subscribers, tokens }: { resources: LedgerResources; subscribers: Subscribers; tokens: TokenReader },
): void {
  const { db } = deps;
  const { seal, sealAll } = createSealer(db);
  const assignPositions = createPositionAssigner(db);
  const read = async (
    request: FastifyRequest,
    page: { after: number; limit: number; tenantId: string | undefined; below: boolean },
  ): Promise<FeedPage> => {
    const readFeed = page.below ? readSubtreeChanges : readChanges;
    const { feedScanMs: scanMs } = deps.timing;
    const readPage = (after: number) =>
      readAs(db, request, (tx, caller) => readFeed(tx, resources, caller, { ...page, after, scanMs }));
    const first = await readPage(page.after);
    if (!first.isBehind || first.rows.length === page.limit) return first;
    // A caller whose write has been acknowledged must find it. The first read has checked the caller's permission, so only
    // callers with that permission cause the ledger to be sealed.
    const tenantId = page.tenantId ?? request.token.tenantId;
    if (page.below) await assignPositions();
    // `latest` must not be a position within a large write that was committed before.
    else if (page.after === LATEST) await sealAll(tenantId, Number(first.next));
    else await seal(tenantId);
    // Positions without changes for this feed need not be scanned again.
    return readPage(first.rows.length > 0 || page.after === LATEST ? page.after : Number(first.next));
  };
  const sourceOf = (request: FastifyRequest, { tenantId, below = false }: StreamFilter): FeedSource => ({
    tenantId: tenantId ?? request.token.tenantId,
    below,
  });

  app.get(
    path,
    {
      config: { requires: 'change:read' },
      schema: {
        ...shared,
        operationId: 'readChanges',
        summary: 'Read the change feed of a tenant',
        description:
          'Returns the changes in a tenant, and the changes of the records and notices of its descendants, in the order of the ledger. ' +
          'Send `next` as the next `after`. `wait`: long polling.',
        querystring: FeedFilter,
        response: responses('authenticated', { data: ChangePage, errors: ['OTHER_TENANT'] }),
      },
    },
    async (request, reply) => {
      const { after = '0', limit = 100, wait = 0, tenantId, below = false } = request.query;
      const from = { after: positionOf(after), limit, tenantId, below };
      const until = performance.now() + wait * 1000;
      let subscription: Subscription | undefined;
      for (;;) {
        const { rows, next } = await read(request, from);
        const left = until - performance.now();
        const isOver = left <= 0 || subscribers.closed || subscription?.signal.aborted;
        if (rows.length > 0 || isOver || !isClientWaiting(reply)) return ok({ rows, next });
        // Positions without changes for this feed need not be scanned again.
        from.after = Number(next);
        // From here on the request counts as a subscription.
        subscription ??= await app.loadShedder.subscribe(request, reply, 'long_poll');
        await subscribers.waitForChanges(sourceOf(request, request.query), from.after, left, subscription.signal);
      }
    },
  );

  app.get(
    `${path}/stream`,
    {
      config: { requires: 'change:read' },
      schema: {
        ...shared,
        operationId: 'streamChanges',
        summary: 'Stream the changes of a tenant as server-sent events',
        description:
          'Sends the same changes as `GET /system/change-api`, one event for each. Reconnect with `Last-Event-ID` to miss nothing.',
        querystring: StreamFilter,
        headers: StreamHeaders,
        response: responses('authenticated', { events: Events, errors: ['OTHER_TENANT'] }),
      },
    },
    async (request, reply) => {
      const { after = '0', tenantId, below = false } = request.query;
      const cursor = request.headers['last-event-id'] || after;
      if (!/^(\d{1,18}|latest)$/.test(cursor)) throw invalid('Last-Event-ID', 'cursor');
      const readAfter = (position: number) => read(request, { after: position, limit: 100, tenantId, below });
      await app.loadShedder.assertRoomForSubscription(request, reply);
      // Read the first page before the stream begins, so that its error is sent as a regular response.
      const position = positionOf(cursor);
      const first = await readAfter(position);
      if (!isClientWaiting(reply)) return reply;
      const subscription = await app.loadShedder.subscribe(request, reply, 'stream');
      const events = streamChanges(
        subscribers,
        readAfter,
        // A client that sends `latest` knows no position. With -1, the stream first sends one, from which the client can resume.
        { source: sourceOf(request, request.query), after: position === LATEST ? -1 : position, first },
        {
          isToken: request.token.keyId === undefined || request.token.issued !== undefined,
          timeLeft: () => tokens.timeLeft(request.token),
          heartbeatMs: deps.timing.streamHeartbeatMs,
          subscription,
        },
      );
      const source = Readable.from(events, { objectMode: false });
      return reply
        .type('text/event-stream; charset=utf-8')
        .header('x-accel-buffering', 'no')
        .send(source as never);
    },
  );

  app.get(
    `${path}/list`,
    {
      config: { requires: 'change:read' },
      schema: {
        ...shared,
        operationId: 'listChanges',
        summary: 'Search the audit log',
        description: 'Newest first. Includes logins, even failed ones, but no passwords or secrets.',
        querystring: AuditFilter,
        response: responses('authenticated', {
          data: AuditPage,
          errors: ['OTHER_TENANT', 'TOO_MANY_LEDGERS'],
        }),
      },
    },
    async (request) => ok(await readAs(db, request, (tx, caller) => listChanges(tx, resources, caller, request.query))),
  );

  app.post(
    `${path}/:id/revert`,
    {
      config: { requires: 'change:revert', undoesImports: true },
      schema: {
        ...shared,
        operationId: 'revertChange',
        summary: 'Revert a change',
        description:
          'Reverts all changes of the same request, or none. Fails if later changes conflict; the error names them.',
        headers: writeHeaders,
        params: IdPath,
        querystring: TenantQuery,
        response: responses('authenticated', {
          writes: 'unconditional',
          errors: [
            'OTHER_TENANT',
            'CHANGE_NOT_FOUND',
            'CHANGE_CONTRADICTED',
            'EXTERNAL_ID_TAKEN',
            'CHANGE_IRREVERSIBLE',
            'CHANGE_TOO_OLD',
            'PARENT_GONE',
            'PARENT_DISABLED',
            'DEPT_CYCLE',
            'DEPT_HAS_CHILDREN',
            'DEPT_HAS_USERS',
            'USER_DEPT_GONE',
            'USER_NAME_TAKEN',
            'ACCOUNT_LIMIT',
            'QUOTA_EXHAUSTED',
            'LAST_ADMINISTRATOR',
            'OWN_USER',
            'OWN_TENANT',
            'TENANT_NOT_FOUND',
            'TENANT_HAS_CHILDREN',
            'TENANT_CYCLE',
            'TOO_DEEP',
            'TENANT_PARENT_GONE',
            'TENANT_PARENT_FORBIDDEN',
          ],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, (tx, caller) => revertChange(tx, resources, caller, id, request.query.tenantId));
      return ok(null);
    },
  );
}
