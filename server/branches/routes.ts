import Type from 'typebox';
import type { App, Parts } from '../app.ts';
import { readAs, writeAs } from '../auth/caller.ts';
import { listChildrenAt } from '../history/departments.ts';
import { momentOf } from '../history/moment.ts';
import { treeOf } from '../history/tree.ts';
import { ok } from '../http/envelope.ts';
import { IdPath } from '../http/fields.ts';
import { answers, guarded } from '../http/openapi.ts';
import { refuseIfMatch, writeHeaders } from '../http/preconditions.ts';
import { answering, inTurn, isAwaited, sendPieces, sendWritten } from '../http/streaming.ts';
import { pathId } from '../http/validation.ts';
import { listChildren, orderDepartments } from './branches.ts';
import { addDepartments } from './bulk.ts';
import { ChildrenFilter, ChildrenPage, DeptOrder, NewDeptIds, NewDepts, TreeFilter, TreeNode } from './schema.ts';
import { readSmallTree, readTree } from './tree.ts';

const path = '/system/dept-api';
const shared = { ...guarded, tags: ['Departments'] };

/** Ten thousand departments with all their fields; everything else keeps to the common limit. */
const BULK_BODY_LIMIT = 8_388_608;

/** Of the ten connections. A large tree keeps one for as long as its caller reads; a small one is told from memory. */
const SMALL_AT_ONCE = 4;
const LARGE_AT_ONCE = 2;

export function branchRoutes(app: App, parts: Parts): void {
  const { db } = parts;
  app.get(
    `${path}/:id/children`,
    {
      schema: {
        ...shared,
        operationId: 'listChildren',
        summary: 'List the children of a department, page by page',
        description: 'Any user of the tenant. Sorted by `orderNum`, then id. Id 0: the top level.',
        params: IdPath,
        querystring: ChildrenFilter,
        response: answers('guarded', {
          data: ChildrenPage,
          reasons: ['DEPT_NOT_FOUND', 'PATHS_TOO_LONG', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      const { query } = request;
      const moment = query.asOf === undefined ? undefined : await momentOf(parts, query.asOf);
      return ok(
        await readAs(db, request, 'user', (tx, caller) =>
          moment ? listChildrenAt(tx, caller, id, query, moment) : listChildren(tx, caller, id, query),
        ),
      );
    },
  );

  app.get(
    `${path}/tree`,
    {
      schema: {
        ...shared,
        operationId: 'readTree',
        summary: 'Read a whole branch, or all departments, as a tree',
        description:
          'Any user of the tenant. Nested, in display order, of one moment. A large tree is sent as it is read: ' +
          'should it fail halfway, the connection ends before the answer does.',
        querystring: TreeFilter,
        response: answers('guarded', { data: Type.Array(TreeNode), reasons: ['DEPT_NOT_FOUND', 'HISTORY_NOT_KEPT'] }),
      },
    },
    async (request, reply) => {
      const { query } = request;
      const moment = query.asOf === undefined ? undefined : await momentOf(parts, query.asOf);
      const sourceOf = treeOf(query, moment);
      const small = await inTurn(reply, 'small trees', SMALL_AT_ONCE, () =>
        readAs(db, request, 'user', async (tx, caller) => readSmallTree(sourceOf(tx, caller))),
      );
      if (small !== undefined) return sendWritten(reply, small);
      const send = () =>
        readAs(db, request, 'user', (tx, caller) =>
          sendPieces(
            reply,
            readTree(tx, sourceOf(tx, caller), () => isAwaited(reply)),
          ),
        );
      return answering(reply, () =>
        inTurn(reply, `large trees of ${request.token.tenantId}`, 1, () =>
          inTurn(reply, 'large trees', LARGE_AT_ONCE, send),
        ),
      );
    },
  );

  app.put(
    `${path}/order`,
    {
      config: { writesMany: () => true },
      schema: {
        ...shared,
        operationId: 'orderDepartments',
        summary: 'Put the children of a department in order',
        description:
          'Administrators. Numbers `orderNum` of all its children from 1; those whose number stays are not touched.',
        headers: writeHeaders,
        body: DeptOrder,
        response: answers('guarded', {
          writes: 'new',
          reasons: ['NOT_ALLOWED', 'PARENT_NOT_FOUND', 'NOT_CHILDREN', 'BRANCH_TOO_LARGE'],
          otherwise: ['BRANCH_TOO_LARGE'],
          body: true,
        }),
      },
    },
    async (request) => {
      refuseIfMatch(request);
      await writeAs(db, request, 'administrator', (tx, caller) => orderDepartments(tx, caller, request.body));
      return ok(null);
    },
  );

  app.post(
    `${path}/bulk`,
    {
      config: { writesMany: () => true },
      bodyLimit: BULK_BODY_LIMIT,
      schema: {
        ...shared,
        operationId: 'addDepartments',
        summary: 'Create many departments at once',
        description: 'Administrators. All of them or none; the body may have 8 MiB.',
        headers: writeHeaders,
        body: NewDepts,
        response: answers('guarded', {
          writes: 'new',
          data: NewDeptIds,
          reasons: ['NOT_ALLOWED', 'OTHER_TENANT', 'PARENT_NOT_FOUND', 'PARENT_DISABLED'],
          body: true,
        }),
      },
    },
    async (request) =>
      ok(await writeAs(db, request, 'administrator', (tx, caller) => addDepartments(tx, caller, request.body))),
  );
}
