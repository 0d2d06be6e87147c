import Type from 'typebox';
import type { App, Parts } from '../app.ts';
import { readAs, writeAs } from '../auth/caller.ts';
import { removeBranch } from '../branches/branches.ts';
import { listDepartmentsAt, readDepartmentAt } from '../history/departments.ts';
import { momentOf } from '../history/moment.ts';
import { asOf } from '../history/schema.ts';
import { created, ok } from '../http/envelope.ts';
import { IdPath, IdsPath } from '../http/fields.ts';
import { answers, guarded } from '../http/openapi.ts';
import { changeHeaders, etagOf, ifMatchOf, okTagged, writeHeaders } from '../http/preconditions.ts';
import { refuse } from '../http/refusals.ts';
import { invalid, pathId, pathIds } from '../http/validation.ts';
import { makeCreator } from './creating.ts';
import { removeDepartments, updateDepartment } from './departments.ts';
import { listDepartments, readDepartments } from './list.ts';
import type { DeptReader } from './reading.ts';
import { Dept, DeptBatch, DeptFilter, DeptIds, DeptInput, DeptPage, DeptUpdate } from './schema.ts';

const path = '/system/dept-api';
const shared = { ...guarded, tags: ['Departments'] };

export function departmentRoutes(app: App, parts: Parts, read: DeptReader): void {
  const { db } = parts;
  const create = makeCreator(parts);

  app.post(
    path,
    {
      schema: {
        ...shared,
        operationId: 'createDepartment',
        summary: 'Create a department',
        description: 'Administrators.',
        headers: writeHeaders,
        body: DeptInput,
        response: answers('guarded', {
          writes: 'new',
          location: true,
          reasons: ['NOT_ALLOWED', 'OTHER_TENANT', 'PARENT_NOT_FOUND', 'PARENT_DISABLED'],
          body: true,
        }),
      },
    },
    async (request, reply) => {
      return created(reply, `${path}/${await create(request)}`);
    },
  );

  app.get(
    `${path}/list`,
    {
      schema: {
        ...shared,
        operationId: 'listDepartments',
        summary: 'List departments',
        description:
          'Any user of the tenant. Sorted by `orderNum`, then id, unless `sort` says otherwise. Filters combine.',
        querystring: DeptFilter,
        response: answers('guarded', {
          data: DeptPage,
          reasons: ['PATHS_TOO_LONG', 'PAST_TOO_LARGE', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request) => {
      const { query } = request;
      const moment = query.asOf === undefined ? undefined : await momentOf(parts, query.asOf);
      return ok(
        await readAs(db, request, 'user', (tx, caller) =>
          moment ? listDepartmentsAt(tx, caller, query, moment) : listDepartments(tx, caller, query),
        ),
      );
    },
  );

  app.post(
    `${path}/batch-read`,
    {
      schema: {
        ...shared,
        operationId: 'readDepartments',
        summary: 'Read many departments at once',
        description: 'Any user of the tenant. A read: it writes nothing and needs no Idempotency-Key.',
        body: DeptIds,
        response: answers('guarded', { data: DeptBatch, reasons: ['PATHS_TOO_LONG'], body: true }),
      },
    },
    async (request) =>
      ok(await readAs(db, request, 'user', (tx, caller) => readDepartments(tx, caller, request.body.ids))),
  );

  app.get(
    `${path}/:id`,
    {
      schema: {
        ...shared,
        operationId: 'readDepartment',
        summary: 'Read a department',
        description: 'Any user of the tenant.',
        params: IdPath,
        querystring: Type.Object({
          includeDeleted: Type.Optional(Type.Boolean({ default: false, description: 'Show it also when deleted' })),
          asOf,
        }),
        response: answers('guarded', { data: Dept, etag: true, reasons: ['DEPT_NOT_FOUND', 'HISTORY_NOT_KEPT'] }),
      },
    },
    async (request, reply) => {
      const id = pathId(request.params.id);
      const { includeDeleted = false, asOf } = request.query;
      if (asOf !== undefined) {
        if (includeDeleted) throw invalid('includeDeleted', 'onlyNow');
        const moment = await momentOf(parts, asOf);
        const past = await readAs(db, request, 'user', (tx, caller) => readDepartmentAt(tx, caller, id, moment));
        return okTagged(reply, { data: past, etag: etagOf(past) });
      }
      const dept = await (request.raw.deptAsked ?? read(request.token, { deptId: id, includeDeleted }));
      if (!dept) throw refuse('DEPT_NOT_FOUND');
      return okTagged(reply, { data: dept, etag: etagOf(dept) });
    },
  );

  app.put(
    path,
    {
      schema: {
        ...shared,
        operationId: 'updateDepartment',
        summary: 'Replace a department, and move it',
        description: 'Administrators. Moving a department moves its whole branch.',
        headers: changeHeaders,
        body: DeptUpdate,
        response: answers('guarded', {
          writes: 'change',
          reasons: [
            'NOT_ALLOWED',
            'OTHER_TENANT',
            'DEPT_NOT_FOUND',
            'PARENT_NOT_FOUND',
            'PARENT_DISABLED',
            'DEPT_CYCLE',
          ],
          body: true,
        }),
      },
    },
    async (request) => {
      await writeAs(db, request, 'administrator', (tx, caller) =>
        updateDepartment(tx, caller, request.body, ifMatchOf(request)),
      );
      return ok(null);
    },
  );

  app.delete(
    `${path}/:id`,
    {
      config: { writesMany: ({ query }) => 'subtree' in (query as object) },
      schema: {
        ...shared,
        operationId: 'deleteDepartments',
        summary: 'Delete departments',
        description:
          'Administrators. One id, or several separated by commas: then all of them or none. ' +
          'With `subtree` one id, and all that is below it.',
        headers: changeHeaders,
        params: IdsPath,
        querystring: Type.Object({
          subtree: Type.Optional(Type.Boolean({ default: false, description: 'The departments below it too' })),
        }),
        response: answers('guarded', {
          writes: 'change',
          reasons: [
            'NOT_ALLOWED',
            'TOO_MANY_IDS',
            'DEPT_NOT_FOUND',
            'DEPT_HAS_CHILDREN',
            'DEPT_HAS_USERS',
            'BRANCH_TOO_LARGE',
          ],
        }),
      },
    },
    async (request) => {
      const ids = pathIds(request.params.id);
      const [id = '', ...more] = ids;
      const { subtree = false } = request.query;
      if (subtree && more.length > 0) throw invalid('subtree', 'single');
      await writeAs(db, request, 'administrator', (tx, caller) => {
        const ifMatch = ifMatchOf(request, ids);
        return subtree ? removeBranch(tx, caller, id, ifMatch) : removeDepartments(tx, caller, ids, ifMatch);
      });
      return ok(null);
    },
  );
}
