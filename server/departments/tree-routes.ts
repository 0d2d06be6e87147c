import Type from 'typebox';
import { readInRequestedTenant, writeInRequestedTenant } from '../access/requested-tenant.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { rejectIfMatch, writeHeaders } from '../http/etag.ts';
import { IdPath, TenantQuery } from '../http/fields.ts';
import { BULK_BODY_LIMIT } from '../http/limits.ts';
import { responses } from '../http/openapi.ts';
import { pathId } from '../http/validation.ts';
import { resolvePointInTime } from '../ledger/point-in-time.ts';
import { addDepartments } from './bulk.ts';
import { listChildrenAt } from './history/reads.ts';
import { createStoredReader } from './stored-reader.ts';
import { listChildren, orderDepartments } from './tree/children.ts';
import { ChildrenFilter, ChildrenPage, DeptOrder, NewDeptIds, NewDepts, TreeFilter, TreeNode } from './tree/schema.ts';
import { createTreeSender } from './tree-sending.ts';

const path = '/system/dept-api';
const shared = { tags: ['Departments'] };

/** The routes of the tree. They are not in tree/, because they also read the past: history/ imports tree/. */
export function treeRoutes(app: App, deps: Dependencies): void {
  const { db } = deps;
  const show = createStoredReader(deps.config.timeZone);
  const sendTree = createTreeSender(deps);

  app.get(
    `${path}/:id/children`,
    {
      config: { requires: 'dept:read' },
      schema: {
        ...shared,
        operationId: 'listChildren',
        summary: 'List the children of a department',
        description: 'Sorted by `orderNum`, then by id. Id 0: the top level.',
        params: IdPath,
        querystring: ChildrenFilter,
        response: responses('authenticated', {
          data: ChildrenPage,
          errors: ['OTHER_TENANT', 'DEPT_NOT_FOUND', 'PATHS_TOO_LONG', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      const { query } = request;
      const time = query.asOf === undefined ? undefined : await resolvePointInTime(deps, request, query.asOf);
      return ok(
        await readInRequestedTenant(db, request, (tx, caller) =>
          time ? listChildrenAt(tx, show, caller, id, { ...query, time }) : listChildren(tx, caller, id, query),
        ),
      );
    },
  );

  app.get(
    `${path}/tree`,
    {
      config: { requires: 'dept:read' },
      schema: {
        ...shared,
        operationId: 'readTree',
        summary: 'Read a subtree or all departments as a tree',
        description: 'In display order, from one snapshot. A large tree is streamed.',
        querystring: TreeFilter,
        response: responses('authenticated', {
          data: Type.Array(TreeNode),
          errors: ['OTHER_TENANT', 'DEPT_NOT_FOUND', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request, reply) => {
      const { asOf } = request.query;
      const time = asOf === undefined ? undefined : await resolvePointInTime(deps, request, asOf);
      return sendTree(request, reply, time);
    },
  );

  app.put(
    `${path}/order`,
    {
      config: { requires: 'dept:write', writesMany: () => true },
      schema: {
        ...shared,
        operationId: 'orderDepartments',
        summary: 'Reorder the children of a department',
        description: 'Sets `orderNum` of all children from 1 on.',
        headers: writeHeaders,
        querystring: TenantQuery,
        body: DeptOrder,
        response: responses('authenticated', {
          writes: 'unconditional',
          errors: ['OTHER_TENANT', 'PARENT_NOT_FOUND', 'NOT_CHILDREN', 'BRANCH_TOO_LARGE'],
          alternativeTexts: ['BRANCH_TOO_LARGE'],
        }),
      },
    },
    async (request) => {
      rejectIfMatch(request);
      await writeInRequestedTenant(db, request, (tx, caller) => orderDepartments(tx, caller, request.body));
      return ok(null);
    },
  );

  app.post(
    `${path}/bulk`,
    {
      config: { requires: 'dept:write', writesMany: () => true },
      bodyLimit: BULK_BODY_LIMIT,
      schema: {
        ...shared,
        operationId: 'addDepartments',
        summary: 'Create departments in bulk',
        description: 'Creates all of them or none. At most 8 MiB.',
        headers: writeHeaders,
        querystring: TenantQuery,
        body: NewDepts,
        response: responses('authenticated', {
          writes: 'unconditional',
          data: NewDeptIds,
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
    async (request) =>
      ok(
        await writeInRequestedTenant(db, request, (tx, caller) =>
          addDepartments(tx, caller, request.body, { maxLevels: deps.config.departmentLevels }),
        ),
      ),
  );
}
