import { fairnessKeyOf, prepareAndWrite, readAs, writeAs } from '../auth/caller.ts';
import { hashNewPassword } from '../auth/password-policy.ts';
import type { App } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { IdPath, IdsPath, idOf, type Rows } from '../http/fields.ts';
import { pathId, pathIds } from '../http/validation.ts';
import type { ListedTenant } from '../tenants/schema.ts';
import { createTenant, listTenants, patchTenant, readTenant, removeTenant } from '../tenants/tenants.ts';
import { hidden, type RuoyiDependencies } from './context.ts';
import { defined, tenantPatch } from './patches.ts';
import { table } from './responses.ts';
import { ChangedTenant, NewTenant, TenantQuery, TenantStatus } from './schema.ts';
import { showTenant } from './show.ts';

const path = '/system/tenant';
const MAX_ROWS = 500;

/** The caller's tenant and those below it, as in our own operations. */
export function tenantRoutes(app: App, { db, config, passwords }: RuoyiDependencies): void {
  const maxLevels = config.tenantLevels;
  const reads = { config: { requires: 'tenant:read' } } as const;
  const writes = { config: { requires: 'tenant:write' } } as const;

  app.get(
    `${path}/list`,
    { ...reads, schema: { ...hidden('ListTenants'), querystring: TenantQuery } },
    async (request) => {
      const {
        tenantId,
        status,
        pageNum,
        pageSize = MAX_ROWS,
        companyName,
        contactUserName,
        contactPhone,
      } = request.query;
      const filter = defined({ tenantId, status, pageNum, pageSize });
      const further = { companyName, contactUserName, contactPhone };
      const page = await readAs(db, request, (tx, caller) => listTenants(tx, caller, filter, further));
      const { rows, total } = page as Rows<ListedTenant>;
      return table({ rows: rows.map(showTenant), total });
    },
  );

  // Banyan stores the menus of each tenant with the tenant, not in packages.
  app.get(`${path}/package/selectList`, { ...reads, schema: hidden('ListPackages') }, async (request) =>
    ok(await readAs(db, request, async () => [])),
  );

  app.get(`${path}/:id`, { ...reads, schema: { ...hidden('ReadTenant'), params: IdPath } }, async (request) => {
    const id = pathId(request.params.id);
    const { data } = await readAs(db, request, (tx, caller) => readTenant(tx, caller, id));
    return ok(showTenant(data));
  });

  app.post(path, { ...writes, schema: { ...hidden('CreateTenant'), body: NewTenant } }, async (request) => {
    const { username, password: text, ...sent } = request.body;
    const fields = tenantPatch(sent);
    const input = { ...fields, ...defined({ tenantName: fields.companyName }), username };
    await prepareAndWrite(
      db,
      request,
      () => hashNewPassword((each) => passwords.hash(each, fairnessKeyOf(request)), text),
      (tx, caller, password) => createTenant(tx, caller, input, { password, maxLevels }),
    );
    return ok(null);
  });

  app.put(path, { ...writes, schema: { ...hidden('ChangeTenant'), body: ChangedTenant } }, async (request) => {
    const { id, ...sent } = request.body;
    const patch = tenantPatch(sent);
    await writeAs(db, request, (tx, caller) =>
      patchTenant(tx, caller, idOf(id), patch, { ifMatch: undefined, maxLevels }),
    );
    return ok(null);
  });

  app.put(
    `${path}/changeStatus`,
    { ...writes, schema: { ...hidden('ChangeTenantStatus'), body: TenantStatus } },
    async (request) => {
      const { id, status } = request.body;
      await writeAs(db, request, (tx, caller) =>
        patchTenant(tx, caller, idOf(id), { status }, { ifMatch: undefined, maxLevels }),
      );
      return ok(null);
    },
  );

  // All of them or none: a rule that fails ends the transaction.
  app.delete(`${path}/:id`, { ...writes, schema: { ...hidden('DeleteTenants'), params: IdsPath } }, async (request) => {
    const ids = pathIds(request.params.id);
    await writeAs(db, request, async (tx, caller) => {
      for (const id of ids) await removeTenant(tx, caller, id, undefined);
    });
    return ok(null);
  });
}
