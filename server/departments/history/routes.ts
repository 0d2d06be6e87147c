import { readInRequestedTenant, writeInRequestedTenant } from '../../access/requested-tenant.ts';
import type { App, Dependencies } from '../../context.ts';
import { ok } from '../../http/envelope.ts';
import { writeHeaders } from '../../http/etag.ts';
import { IdPath, TenantQuery } from '../../http/fields.ts';
import { responses } from '../../http/openapi.ts';
import { invalid, pathId } from '../../http/validation.ts';
import { now, resolvePointInTime } from '../../ledger/point-in-time.ts';
import type { LedgerResources } from '../../ledger/resources.ts';
import { compareDepartments } from './diff.ts';
import { restoreDepartment } from './restore.ts';
import { Diff, DiffFilter, RestoreInput, TimelineFilter, TimelinePage } from './schema.ts';
import { readDepartmentTimeline } from './timeline.ts';

const path = '/system/dept-api';
const shared = { tags: ['Departments'] };

export function departmentHistoryRoutes(app: App, deps: Dependencies, resources: LedgerResources): void {
  const { db } = deps;
  app.get(
    `${path}/:id/history`,
    {
      config: { requires: 'change:read' },
      schema: {
        ...shared,
        operationId: 'readDepartmentHistory',
        summary: 'List the changes of a department',
        description: 'Also works for a deleted department.',
        params: IdPath,
        querystring: TimelineFilter,
        response: responses('authenticated', {
          data: TimelinePage,
          errors: ['OTHER_TENANT', 'DEPT_NOT_FOUND'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(
        await readInRequestedTenant(db, request, (tx, caller) =>
          readDepartmentTimeline(tx, resources, caller, id, request.query),
        ),
      );
    },
  );

  app.get(
    `${path}/diff`,
    {
      config: { requires: 'dept:read' },
      schema: {
        ...shared,
        operationId: 'compareDepartments',
        summary: 'Compare the departments at two points in time',
        description: 'Departments created and deleted in between are not listed.',
        querystring: DiffFilter,
        response: responses('authenticated', {
          data: Diff,
          errors: [
            'OTHER_TENANT',
            'FIELD_REQUIRED',
            'DIFF_TOO_LARGE',
            'PATHS_TOO_LONG',
            'ANSWER_TOO_LARGE',
            'HISTORY_NOT_KEPT',
          ],
        }),
      },
    },
    async (request) => {
      const { query } = request;
      const from = await resolvePointInTime(deps, request, query.from, 'from');
      const to = query.to === undefined ? await now(deps) : await resolvePointInTime(deps, request, query.to, 'to');
      // Both have one format and one time zone, so they compare as text.
      if (to < from) throw invalid('to', 'beforeFrom');
      return ok(await readInRequestedTenant(db, request, (tx, caller) => compareDepartments(tx, caller, { from, to })));
    },
  );

  app.post(
    `${path}/:id/restore`,
    {
      config: { requires: 'dept:write', writesMany: () => true },
      schema: {
        ...shared,
        operationId: 'restoreDepartment',
        summary: 'Restore a deleted department with its subtree',
        description: 'With everything below it that the same request deleted.',
        headers: writeHeaders,
        params: IdPath,
        querystring: TenantQuery,
        body: RestoreInput,
        response: responses('authenticated', {
          writes: 'unconditional',
          errors: [
            'OTHER_TENANT',
            'DEPT_NOT_FOUND',
            'DEPT_NOT_DELETED',
            'EXTERNAL_ID_TAKEN',
            'PARENT_GONE',
            'PARENT_NOT_FOUND',
            'PARENT_DISABLED',
            'DEPT_CYCLE',
            'TOO_DEEP',
          ],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeInRequestedTenant(db, request, (tx, caller) =>
        restoreDepartment(tx, caller, id, request.body, { maxLevels: deps.config.departmentLevels }),
      );
      return ok(null);
    },
  );
}
