import Type from 'typebox';
import { readInRequestedTenant, writeInRequestedTenant } from '../access/requested-tenant.ts';
import type { App, Dependencies } from '../context.ts';
import { created, ok } from '../http/envelope.ts';
import { apiError } from '../http/errors.ts';
import {
  conditionalReadHeaders,
  conditionalWriteHeaders,
  etagOf,
  ifMatchOf,
  okWithEtag,
  writeHeaders,
} from '../http/etag.ts';
import { IdPath, IdsPath, idOf, TenantQuery } from '../http/fields.ts';
import { responses } from '../http/openapi.ts';
import { invalid, PATCH_TYPES, pathId, pathIds } from '../http/validation.ts';
import { resolvePointInTime } from '../ledger/point-in-time.ts';
import type { LedgerResources } from '../ledger/resources.ts';
import { asOf } from '../ledger/schema.ts';
import { ExternalIdPath } from '../records/external-id.ts';
import { createDepartmentCreator } from './batched-create.ts';
import { createDepartmentReader } from './batched-read.ts';
import { departmentExportRoutes } from './export-routes.ts';
import { listDepartmentsAt, readDepartmentAt } from './history/reads.ts';
import { departmentHistoryRoutes } from './history/routes.ts';
import { listDepartments, readDepartments } from './list.ts';
import type { MemberRemoval } from './members.ts';
import { patchDepartment, readDepartmentByExternalId, removeDepartments, updateDepartment } from './rules.ts';
import {
  Dept,
  DeptBatch,
  DeptFilter,
  DeptIds,
  DeptInput,
  DeptPage,
  DeptPatch,
  DeptUpdate,
  MembersQuery,
} from './schema.ts';
import { createStoredReader } from './stored-reader.ts';
import { removeSubtree } from './tree/remove-subtree.ts';
import { treeRoutes } from './tree-routes.ts';

const path = '/system/dept-api';
const shared = { tags: ['Departments'] };

/** `memberRemoval` says what deleting departments does with their users. */
export function departmentRoutes(
  app: App,
  deps: Dependencies,
  resources: LedgerResources,
  memberRemoval: (toDeptId: string | null) => MemberRemoval,
): void {
  const { db } = deps;
  const maxLevels = deps.config.departmentLevels;
  const create = createDepartmentCreator(deps);
  const read = createDepartmentReader(deps);
  const show = createStoredReader(deps.config.timeZone);
  const memberRemovalOf = ({ users, toDeptId }: MembersQuery): MemberRemoval | undefined => {
    if (users === 'move' && toDeptId === undefined) throw apiError('FIELD_REQUIRED', { field: 'toDeptId' });
    if (users !== 'move' && toDeptId !== undefined) throw invalid('toDeptId', 'onlyWithMove');
    return users && memberRemoval(toDeptId === undefined ? null : idOf(toDeptId));
  };

  app.post(
    path,
    {
      config: { requires: 'dept:write', ignoresUnknownParameters: true },
      schema: {
        ...shared,
        operationId: 'createDepartment',
        summary: 'Create a department',
        headers: writeHeaders,
        querystring: TenantQuery,
        body: DeptInput,
        response: responses('authenticated', {
          writes: 'unconditional',
          location: true,
          errors: [
            'OTHER_TENANT',
            'PARENT_NOT_FOUND',
            'PARENT_DISABLED',
            'LEADER_NOT_FOUND',
            'TOO_DEEP',
            'EXTERNAL_ID_TAKEN',
          ],
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
      config: { requires: 'dept:read' },
      schema: {
        ...shared,
        operationId: 'listDepartments',
        summary: 'List departments',
        description: 'All filters have to match.',
        querystring: DeptFilter,
        response: responses('authenticated', {
          data: DeptPage,
          errors: ['OTHER_TENANT', 'PATHS_TOO_LONG', 'PAST_TOO_LARGE', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request) => {
      const { query } = request;
      const time = query.asOf === undefined ? undefined : await resolvePointInTime(deps, request, query.asOf);
      return ok(
        await readInRequestedTenant(db, request, (tx, caller) =>
          time ? listDepartmentsAt(tx, show, caller, query, time) : listDepartments(tx, caller, query),
        ),
      );
    },
  );

  app.post(
    `${path}/batch-read`,
    {
      config: { requires: 'dept:read' },
      schema: {
        ...shared,
        operationId: 'readDepartments',
        summary: 'Read departments by their ids',
        description: 'A read: it needs no Idempotency-Key.',
        querystring: TenantQuery,
        body: DeptIds,
        response: responses('authenticated', {
          data: DeptBatch,
          errors: ['OTHER_TENANT', 'PATHS_TOO_LONG'],
        }),
      },
    },
    async (request) =>
      ok(await readInRequestedTenant(db, request, (tx, caller) => readDepartments(tx, caller, request.body.ids))),
  );

  app.get(
    `${path}/external/:source/:externalId`,
    {
      config: { requires: 'dept:read' },
      schema: {
        ...shared,
        operationId: 'readDepartmentByExternalId',
        summary: 'Read a department by its external id',
        headers: conditionalReadHeaders,
        params: ExternalIdPath,
        querystring: TenantQuery,
        response: responses('authenticated', { data: Dept, etag: true, errors: ['OTHER_TENANT', 'DEPT_NOT_FOUND'] }),
      },
    },
    async (request, reply) => {
      const dept = await readInRequestedTenant(db, request, (tx, caller) =>
        readDepartmentByExternalId(tx, caller, request.params),
      );
      return okWithEtag(reply, { data: dept, etag: etagOf(dept) });
    },
  );

  app.get(
    `${path}/:id`,
    {
      config: { requires: 'dept:read', ignoresUnknownParameters: true },
      schema: {
        ...shared,
        operationId: 'readDepartment',
        summary: 'Read a department',
        headers: conditionalReadHeaders,
        params: IdPath,
        querystring: Type.Object({
          ...TenantQuery.properties,
          includeDeleted: Type.Optional(
            Type.Boolean({ default: false, description: 'Also returns a deleted department' }),
          ),
          asOf,
        }),
        response: responses('authenticated', {
          data: Dept,
          etag: true,
          errors: ['OTHER_TENANT', 'DEPT_NOT_FOUND', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request, reply) => {
      const id = pathId(request.params.id);
      const { includeDeleted = false, asOf } = request.query;
      if (asOf !== undefined) {
        if (includeDeleted) throw invalid('includeDeleted', 'notWithAsOf');
        const time = await resolvePointInTime(deps, request, asOf);
        const dept = await readInRequestedTenant(db, request, (tx, caller) =>
          readDepartmentAt(tx, show, caller, id, time),
        );
        return okWithEtag(reply, { data: dept, etag: etagOf(dept) });
      }
      const dept = await read(request, { deptId: id, includeDeleted });
      if (!dept) throw apiError('DEPT_NOT_FOUND');
      return okWithEtag(reply, { data: dept, etag: etagOf(dept) });
    },
  );

  app.put(
    path,
    {
      config: { requires: 'dept:write', ignoresUnknownParameters: true },
      schema: {
        ...shared,
        operationId: 'updateDepartment',
        summary: 'Update or move a department',
        description: 'Moving a department moves its whole subtree.',
        headers: conditionalWriteHeaders,
        querystring: TenantQuery,
        body: DeptUpdate,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: [
            'OTHER_TENANT',
            'DEPT_NOT_FOUND',
            'PARENT_NOT_FOUND',
            'PARENT_DISABLED',
            'LEADER_NOT_FOUND',
            'DEPT_CYCLE',
            'TOO_DEEP',
            'EXTERNAL_ID_TAKEN',
          ],
        }),
      },
    },
    async (request) => {
      await writeInRequestedTenant(db, request, (tx, caller) =>
        updateDepartment(tx, caller, request.body, { ifMatch: ifMatchOf(request), maxLevels }),
      );
      return ok(null);
    },
  );

  app.patch(
    `${path}/:id`,
    {
      config: { requires: 'dept:write' },
      schema: {
        ...shared,
        operationId: 'patchDepartment',
        summary: 'Change some fields of a department',
        description: 'A JSON merge patch (RFC 7396).',
        consumes: PATCH_TYPES,
        headers: conditionalWriteHeaders,
        params: IdPath,
        querystring: TenantQuery,
        body: DeptPatch,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: [
            'OTHER_TENANT',
            'DEPT_NOT_FOUND',
            'PARENT_NOT_FOUND',
            'PARENT_DISABLED',
            'LEADER_NOT_FOUND',
            'DEPT_CYCLE',
            'TOO_DEEP',
            'EXTERNAL_ID_TAKEN',
          ],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeInRequestedTenant(db, request, (tx, caller) =>
        patchDepartment(tx, caller, id, request.body, { ifMatch: ifMatchOf(request), maxLevels }),
      );
      return ok(null);
    },
  );

  app.delete(
    `${path}/:id`,
    {
      config: {
        requires: 'dept:write',
        ignoresUnknownParameters: true,
        writesMany: ({ query }) => 'subtree' in (query as object) || 'users' in (query as object),
      },
      schema: {
        ...shared,
        operationId: 'deleteDepartments',
        summary: 'Delete departments',
        description:
          'Deletes all or none. `subtree`: one id, with its descendants. `users`: also moves or deletes their users. One revert undoes it all.',
        headers: conditionalWriteHeaders,
        params: IdsPath,
        querystring: Type.Object({
          ...TenantQuery.properties,
          subtree: Type.Optional(
            Type.Boolean({ default: false, description: 'Also deletes all departments below it' }),
          ),
          ...MembersQuery,
        }),
        response: responses('authenticated', {
          writes: 'conditional',
          errors: [
            'OTHER_TENANT',
            'TOO_MANY_IDS',
            'DEPT_NOT_FOUND',
            'DEPT_HAS_CHILDREN',
            'DEPT_HAS_USERS',
            'BRANCH_TOO_LARGE',
            'USER_DEPT_NOT_FOUND',
            'OWN_USER',
            'LAST_ADMINISTRATOR',
            'TOO_MANY_USERS',
          ],
        }),
      },
    },
    async (request) => {
      const ids = pathIds(request.params.id);
      const [id = '', ...others] = ids;
      const { subtree = false } = request.query;
      if (subtree && others.length > 0) throw invalid('subtree', 'single');
      const members = memberRemovalOf(request.query);
      await writeInRequestedTenant(db, request, (tx, caller) => {
        if (members && !caller.permissions.has('user:write')) throw apiError('NOT_ALLOWED');
        const ifMatch = ifMatchOf(request, ids);
        return subtree
          ? removeSubtree(tx, caller, id, ifMatch, members)
          : removeDepartments(tx, caller, ids, ifMatch, members);
      });
      return ok(null);
    },
  );

  treeRoutes(app, deps);
  departmentExportRoutes(app, deps);
  departmentHistoryRoutes(app, deps, resources);
}
