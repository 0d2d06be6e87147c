import { readInRequestedTenant, writeInRequestedTenant } from '../access/requested-tenant.ts';
import { writeAs } from '../auth/caller.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { writeHeaders } from '../http/etag.ts';
import { IdPath, TenantQuery } from '../http/fields.ts';
import { responses } from '../http/openapi.ts';
import { pathId } from '../http/validation.ts';
import { createQuotaUseBatcher } from './batching.ts';
import {
  confirmReservation,
  putQuota,
  readQuotas,
  readQuotasBelow,
  refundUse,
  releaseReservation,
  type SetTotal,
} from './rules.ts';
import {
  CountedUse,
  QuotaInput,
  QuotaNumbers,
  QuotaPath,
  QuotaReservationInput,
  Quotas,
  QuotasBelow,
  QuotaUseInput,
  Reservation,
  ReservationEnd,
  Usage,
  UsageFilter,
  UseFilter,
  UsePage,
  UsePath,
} from './schema.ts';
import { listUses, readUsage } from './usage.ts';

const path = '/system/quota-api';
const shared = { tags: ['Quotas'] };
const consumeErrors = ['OTHER_TENANT', 'QUOTA_NOT_FOUND', 'QUOTA_EXHAUSTED', 'QUOTA_COUNTS_USERS'] as const;
const endErrors = ['OTHER_TENANT', 'RESERVATION_NOT_FOUND', 'RESERVATION_ENDED'] as const;

/** `setTotal` sets the total of one of the six quotas in the tenant's record. */
export function quotaRoutes(app: App, deps: Dependencies, setTotal: SetTotal): void {
  const { db, quotaTime } = deps;
  const consumeOrReserve = createQuotaUseBatcher(deps);

  app.get(
    path,
    {
      config: { requires: 'quota:read' },
      schema: {
        ...shared,
        operationId: 'listQuotas',
        summary: 'Read the quotas of a tenant',
        description: 'The six of `quotaBo` first, then the others by name.',
        querystring: TenantQuery,
        response: responses('authenticated', { data: Quotas, errors: ['OTHER_TENANT'] }),
      },
    },
    async (request) =>
      ok(await readInRequestedTenant(db, request, (tx, { tenantId }) => readQuotas(tx, tenantId, quotaTime?.()))),
  );

  app.get(
    `${path}/below`,
    {
      config: { requires: 'quota:read' },
      schema: {
        ...shared,
        operationId: 'listQuotasBelow',
        summary: 'List the quotas of descendant tenants',
        description: 'Those that run out first (rate of the last 30 days) come first. At most 200.',
        querystring: TenantQuery,
        response: responses('authenticated', { data: QuotasBelow, errors: ['OTHER_TENANT'] }),
      },
    },
    async (request) =>
      ok(await readInRequestedTenant(db, request, (tx, caller) => readQuotasBelow(tx, caller, quotaTime?.()))),
  );

  app.post(
    `${path}/consume`,
    {
      config: { requires: 'quota:use' },
      schema: {
        ...shared,
        operationId: 'consumeQuota',
        summary: 'Use a quota',
        description: 'Also counts against every pool above; if any of them has no room, against none.',
        headers: writeHeaders,
        querystring: TenantQuery,
        body: QuotaUseInput,
        response: responses('authenticated', {
          data: CountedUse,
          writes: 'unconditional',
          errors: [...consumeErrors],
          alternativeTexts: ['QUOTA_EXHAUSTED'],
        }),
      },
    },
    async (request) => ok(await consumeOrReserve(request)),
  );

  app.post(
    `${path}/reserve`,
    {
      config: { requires: 'quota:use' },
      schema: {
        ...shared,
        operationId: 'reserveQuota',
        summary: 'Reserve a quota',
        description: 'Counts as reserved until it is confirmed or released, or expires.',
        headers: writeHeaders,
        querystring: TenantQuery,
        body: QuotaReservationInput,
        response: responses('authenticated', {
          data: Reservation,
          writes: 'unconditional',
          errors: [...consumeErrors],
          alternativeTexts: ['QUOTA_EXHAUSTED'],
        }),
      },
    },
    async (request) => ok(await consumeOrReserve(request, request.body.seconds)),
  );

  app.post(
    `${path}/reservations/:id/confirm`,
    {
      config: { requires: 'quota:use' },
      schema: {
        ...shared,
        operationId: 'confirmReservation',
        summary: 'Use what was reserved',
        description: 'The rest is released.',
        headers: writeHeaders,
        params: IdPath,
        querystring: TenantQuery,
        body: ReservationEnd,
        response: responses('authenticated', { data: CountedUse, writes: 'unconditional', errors: [...endErrors] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      const amount = request.body?.amount;
      return ok(
        await writeInRequestedTenant(db, request, (tx, caller) =>
          confirmReservation(tx, caller, id, amount, quotaTime?.()),
        ),
      );
    },
  );

  app.post(
    `${path}/reservations/:id/release`,
    {
      config: { requires: 'quota:use' },
      schema: {
        ...shared,
        operationId: 'releaseReservation',
        summary: 'Release what was reserved',
        description: 'Ends the whole reservation, even with a smaller `amount`.',
        headers: writeHeaders,
        params: IdPath,
        querystring: TenantQuery,
        body: ReservationEnd,
        response: responses('authenticated', { data: QuotaNumbers, writes: 'unconditional', errors: [...endErrors] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      const amount = request.body?.amount;
      return ok(
        await writeInRequestedTenant(db, request, (tx, caller) =>
          releaseReservation(tx, caller, id, amount, quotaTime?.()),
        ),
      );
    },
  );

  app.post(
    `${path}/uses/:useId/refund`,
    {
      config: { requires: 'quota:write' },
      schema: {
        ...shared,
        operationId: 'refundUse',
        summary: 'Refund a use',
        description: 'Counters that have started a new period since the use do not change.',
        headers: writeHeaders,
        params: UsePath,
        querystring: TenantQuery,
        response: responses('authenticated', {
          data: CountedUse,
          writes: 'unconditional',
          errors: ['OTHER_TENANT', 'USE_NOT_FOUND', 'USE_REFUNDED'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.useId);
      return ok(await writeInRequestedTenant(db, request, (tx, caller) => refundUse(tx, caller, id, quotaTime?.())));
    },
  );

  app.get(
    `${path}/uses`,
    {
      config: { requires: 'quota:read' },
      schema: {
        ...shared,
        operationId: 'listUses',
        summary: 'List uses',
        description: 'The latest first.',
        querystring: UseFilter,
        response: responses('authenticated', { data: UsePage, errors: ['OTHER_TENANT'] }),
      },
    },
    async (request) =>
      ok(await readInRequestedTenant(db, request, (tx, caller) => listUses(tx, caller, request.query))),
  );

  app.get(
    `${path}/usage`,
    {
      config: { requires: 'quota:read' },
      schema: {
        ...shared,
        operationId: 'readUsage',
        summary: 'Sum uses by day or month',
        description: 'Refunded uses are left out.',
        querystring: UsageFilter,
        response: responses('authenticated', { data: Usage, errors: ['OTHER_TENANT', 'USAGE_TOO_LARGE'] }),
      },
    },
    async (request) =>
      ok(await readInRequestedTenant(db, request, (tx, caller) => readUsage(tx, caller, request.query))),
  );

  app.put(
    `${path}/:quota`,
    {
      config: { requires: 'quota:write' },
      schema: {
        ...shared,
        operationId: 'putQuota',
        summary: 'Set a quota of a descendant tenant',
        description: 'A quota of `quotaBo` keeps its total if none is sent.',
        headers: writeHeaders,
        params: QuotaPath,
        querystring: TenantQuery,
        body: QuotaInput,
        response: responses('authenticated', {
          writes: 'unconditional',
          errors: ['OTHER_TENANT', 'OWN_TENANT', 'QUOTA_EXISTS'],
        }),
      },
    },
    async (request) => {
      const { quota } = request.params;
      const { tenantId } = request.query;
      const options = { setTotal, now: quotaTime?.() };
      await writeAs(db, request, (tx, caller) => putQuota(tx, caller, { quota, tenantId }, request.body, options));
      return ok(null);
    },
  );
}
