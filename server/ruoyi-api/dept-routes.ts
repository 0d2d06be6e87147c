import type { FastifyReply } from 'fastify';
import { readAs, writeAs } from '../auth/caller.ts';
import type { App } from '../context.ts';
import { readDepartments } from '../departments/list.ts';
import { departmentNames } from '../departments/members.ts';
import { createDepartment, patchDepartment, readDepartment, removeDepartments } from '../departments/rules.ts';
import { ok } from '../http/envelope.ts';
import { IdPath, idOf } from '../http/fields.ts';
import { pathId, pathIds } from '../http/validation.ts';
import { stringifyDeep } from '../idempotency/stringify-deep.ts';
import { hidden, type RuoyiDependencies } from './context.ts';
import { leaderName, readAllDepartments, toTree, withoutSubtree } from './departments.ts';
import { defined } from './patches.ts';
import { ChangedDept, DeptQuery, NewDept, OptionQuery } from './schema.ts';
import { showDept } from './show.ts';

const path = '/system/dept';

export function deptRoutes(app: App, { db, config }: RuoyiDependencies): void {
  const maxLevels = config.departmentLevels;
  const reads = { config: { requires: 'dept:read' } } as const;
  const writes = { config: { requires: 'dept:write' } } as const;

  app.get(
    `${path}/list`,
    { ...reads, schema: { ...hidden('ListDepartments'), querystring: DeptQuery } },
    async (request) => {
      const { deptName, status } = request.query;
      const filter = defined({ deptName, status });
      const rows = await readAs(db, request, (tx, caller) => readAllDepartments(tx, caller, filter));
      return ok(rows.map((dept) => showDept(dept)));
    },
  );

  app.get(
    `${path}/list/exclude/:id`,
    { ...reads, schema: { ...hidden('ListParents'), params: IdPath } },
    async (request) => {
      const id = Number(pathId(request.params.id));
      const rows = await readAs(db, request, (tx, caller) => readAllDepartments(tx, caller));
      return ok(withoutSubtree(rows, id).map((dept) => showDept(dept)));
    },
  );

  app.get(
    `${path}/optionselect`,
    { ...reads, schema: { ...hidden('ReadDepartments'), querystring: OptionQuery } },
    async (request) => {
      const { deptIds } = request.query;
      const ids = deptIds === undefined ? undefined : pathIds(deptIds);
      const rows = await readAs(db, request, async (tx, caller) =>
        ids ? (await readDepartments(tx, caller, ids)).rows : readAllDepartments(tx, caller),
      );
      return ok(rows.map((dept) => showDept(dept)));
    },
  );

  for (const [url, name, requires] of [
    ['/system/user/deptTree', 'ReadUserTree', 'user:read'],
    [`${path}/treeselect`, 'ReadTree', 'dept:read'],
  ] as const) {
    app.get(
      url,
      { config: { requires }, schema: { ...hidden(name), querystring: DeptQuery } },
      async (request, reply) => {
        const { deptName, status } = request.query;
        const filter = defined({ deptName, status });
        const rows = await readAs(db, request, (tx, caller) => readAllDepartments(tx, caller, filter));
        return sendTree(reply, toTree(rows));
      },
    );
  }

  app.get(`${path}/:id`, { ...reads, schema: { ...hidden('ReadDepartment'), params: IdPath } }, async (request) => {
    const id = pathId(request.params.id);
    const shown = await readAs(db, request, async (tx, caller) => {
      const dept = await readDepartment(tx, caller, id);
      const names = await departmentNames(tx, caller.tenantId, dept.parentId === 0 ? [] : [dept.parentId]);
      return showDept(dept, names.get(dept.parentId) ?? null);
    });
    return ok(shown);
  });

  app.post(path, { ...writes, schema: { ...hidden('CreateDepartment'), body: NewDept } }, async (request) => {
    const { parentId, deptName, orderNum, leader, phone, email, status } = request.body;
    // Name the fields: the schema lets others pass, and has not checked them.
    const fields = defined({ parentId, deptName, orderNum, phone, email, status });
    await writeAs(db, request, async (tx, caller) => {
      const input = leader === undefined ? fields : { ...fields, leader: await leaderName(tx, caller, leader) };
      return createDepartment(tx, caller, input, { maxLevels });
    });
    return ok(null);
  });

  app.put(path, { ...writes, schema: { ...hidden('ChangeDepartment'), body: ChangedDept } }, async (request) => {
    const { deptId, parentId, deptName, orderNum, leader, phone, email, status } = request.body;
    const fields = defined({ parentId, deptName, orderNum, phone, email, status });
    await writeAs(db, request, async (tx, caller) => {
      const patch = leader === undefined ? fields : { ...fields, leader: await leaderName(tx, caller, leader) };
      await patchDepartment(tx, caller, idOf(deptId), patch, { ifMatch: undefined, maxLevels });
    });
    return ok(null);
  });

  app.delete(
    `${path}/:id`,
    { ...writes, schema: { ...hidden('DeleteDepartment'), params: IdPath } },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, (tx, caller) => removeDepartments(tx, caller, [id], undefined));
      return ok(null);
    },
  );
}

/** A tree may have more levels than JSON.stringify can serialize. */
const sendTree = (reply: FastifyReply, tree: object[]) =>
  reply.type('application/json; charset=utf-8').send(stringifyDeep(ok(tree)));
