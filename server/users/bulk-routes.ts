import { readInRequestedTenant } from '../access/requested-tenant.ts';
import { fairnessKeyOf, prepareAndWrite } from '../auth/caller.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { apiError } from '../http/errors.ts';
import { writeHeaders } from '../http/etag.ts';
import { TenantQuery } from '../http/fields.ts';
import { BULK_BODY_LIMIT } from '../http/limits.ts';
import { responses } from '../http/openapi.ts';
import { ProgressEvents, respondWithProgress } from '../http/progress.ts';
import { checkNewUsers, createUsers, hashPasswords } from './bulk.ts';
import { readUsers } from './reads.ts';
import { NewUserIds, NewUsers, UserBatch, UserIds } from './schema.ts';

const path = '/system/user-api';
const shared = { tags: ['Users'] };

/** How many users of a tenant a process creates in bulk at the same time: a request holds its memory while it hashes. */
const MAX_IN_PROGRESS = 20_000;

export function bulkUserRoutes(app: App, deps: Dependencies): void {
  const { db, config } = deps;
  const inProgress = new Map<string, number>();

  /** Counts the rows of a request while it runs. */
  async function limitRows<T>(tenantId: string, rows: number, work: () => Promise<T>): Promise<T> {
    const before = inProgress.get(tenantId) ?? 0;
    if (before > 0 && before + rows > MAX_IN_PROGRESS) throw apiError('TOO_BUSY');
    inProgress.set(tenantId, before + rows);
    try {
      return await work();
    } finally {
      const left = (inProgress.get(tenantId) ?? 0) - rows;
      if (left > 0) inProgress.set(tenantId, left);
      else inProgress.delete(tenantId);
    }
  }

  app.post(
    `${path}/batch-read`,
    {
      config: { requires: 'user:read' },
      schema: {
        ...shared,
        operationId: 'readUsers',
        summary: 'Read users by their ids',
        description: 'A read: it needs no Idempotency-Key.',
        querystring: TenantQuery,
        body: UserIds,
        response: responses('authenticated', { data: UserBatch, errors: ['OTHER_TENANT'] }),
      },
    },
    async (request) =>
      ok(await readInRequestedTenant(db, request, (tx, caller) => readUsers(tx, caller, request.body.ids))),
  );

  app.post(
    `${path}/bulk`,
    {
      config: { requires: 'user:write', writesMany: () => true, hasLongPreparation: true },
      bodyLimit: BULK_BODY_LIMIT,
      schema: {
        ...shared,
        operationId: 'addUsers',
        summary: 'Create users in bulk',
        description:
          'Creates all or none; `departments` also requires `dept:write`. Hashing passwords may take minutes: ' +
          '`Accept: text/event-stream` streams progress. An error names the `ref` of its row; `errors` lists the ' +
          'first 100. Body: at most 8 MiB.',
        headers: writeHeaders,
        querystring: TenantQuery,
        body: NewUsers,
        response: responses('authenticated', {
          writes: 'unconditional',
          data: NewUserIds,
          events: ProgressEvents,
          errors: [
            'OTHER_TENANT',
            'USER_DEPT_NOT_FOUND',
            'USER_NAME_RESERVED',
            'USER_NAME_TAKEN',
            'EXTERNAL_ID_TAKEN',
            'PASSWORD_TOO_COMMON',
            'PASSWORD_HAS_NAME',
            'PASSWORD_HASH_FORBIDDEN',
            'ACCOUNT_LIMIT',
            'QUOTA_EXHAUSTED',
            'PARENT_NOT_FOUND',
            'PARENT_DISABLED',
            'LEADER_NOT_FOUND',
            'TOO_DEEP',
          ],
        }),
      },
    },
    (request, reply) => {
      const { body, query, token } = request;
      return limitRows(token.tenantId, body.users.length, () =>
        respondWithProgress(request, reply, config, (progress) =>
          prepareAndWrite(
            db,
            request,
            async () => {
              const checked = await readInRequestedTenant(db, request, (tx, caller) => checkNewUsers(tx, caller, body));
              const hash = (password: string) => deps.passwords.hash(password, fairnessKeyOf(request));
              return { checked, hashes: await hashPasswords(body.users, hash, progress) };
            },
            (tx, caller, prepared) =>
              createUsers(tx, caller, body, { ...prepared, ...query, maxLevels: config.departmentLevels }),
          ),
        ),
      );
    },
  );
}
