import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSeed, report, runConcurrently, scale, seededRandom, Tally } from '../support/scale.ts';
import { type ApiResponse, type Client, startService } from '../support/service.ts';

/**
 * Random concurrent requests of many tenants through two connections. The texts of each tenant contain its mark; no
 * response may contain the mark or an id of a tenant that its caller may not see.
 */

const service = await startService({}, { connections: 2 });
const [dept, people, tenant] = ['/system/dept-api', '/system/user-api', '/system/tenant-api'];
const WORKERS = 16;

interface Tenant {
  admin: Client & { id: string };
  member: Client;
  mark: string;
  /** The tenants whose rows its callers may see: itself and those below. */
  sees: Set<Tenant>;
  depts: string[];
  users: string[];
  /** The records that responses have shown. */
  shown: Set<string>;
}
const all: Tenant[] = [];

async function createTenant(above?: Tenant): Promise<Tenant> {
  const mark = `mark${all.length}x`;
  const admin = await service.createTenant(textsOfTenant(mark), above?.admin);
  const created: Tenant = {
    admin,
    member: admin,
    mark,
    sees: new Set(),
    depts: [],
    users: [],
    shown: new Set(),
  };
  all.push(created);
  for (let n = 0; n < 4; n++) created.depts.push(await admin.createDepartment(texts(mark, n ? created.depts[0] : 0)));
  const [deptId, ...deptIds] = created.depts;
  const member = await service.createMember(admin, { userName: `${mark}m`, nickName: mark, deptId, deptIds });
  created.member = member;
  created.users.push(member.id, await admin.createUser({ userName: `${mark}u`, nickName: mark, phone: mark }));
  return created;
}
const texts = (mark: string, parentId: unknown = 0) => ({
  parentId,
  deptName: mark,
  leader: mark,
  phone: mark,
  email: `${mark}@${mark}.cn`,
});
const textsOfTenant = (mark: string) => ({
  tenantName: mark,
  contactUserName: mark,
  contactPhone: mark,
  companyName: mark,
  ruleBo: { modelZr: mark, catalogRw: mark },
});

for (let n = 0; n < scale(2, 12); n++) {
  const above = await createTenant();
  const child = await createTenant(above);
  const grandchild = await createTenant(child);
  for (const each of [above, child, grandchild]) each.sees.add(each);
  child.sees.add(grandchild);
  for (const each of [child, grandchild]) above.sees.add(each);
}

test('random requests of many tenants through two connections return no rows of other tenants', async (t) => {
  const count = scale(160, 15_000);
  const { below, pick } = seededRandom(firstSeed);
  const tally = new Tally();
  const marks = new Map(all.map((each) => [each.mark, each]));
  let rows = 0;
  /** Descriptions of what callers were shown of tenants that they may not see. */
  const foreign: string[] = [];

  /** Sends one request, mostly about records of the caller, often about records of any tenant. */
  function sendRandom(caller: Tenant): Promise<ApiResponse> {
    const { admin, member, mark } = caller;
    const target = below(3) ? caller : pick(all);
    const [d, u] = [pick(target.depts), pick(target.users)];
    const reader = below(3) ? admin : member;
    // All tenants use the same keys: the response to one must not be replayed to another.
    const headers = below(3) ? {} : { 'idempotency-key': `key ${below(30)}` };
    const code = target.admin.tenantId;
    switch (below(19)) {
      case 0:
        return reader.get(`${dept}/list?pageSize=${1 + below(40)}&pageNum=${1 + below(3)}`);
      case 1:
        return reader.get(`${dept}/list?deptName=${target.mark}&parentId=${below(2) ? d : 0}`);
      case 2:
        return reader.get(`${dept}/${d}?includeDeleted=${below(2) === 0}`);
      case 3:
        return admin.post(dept, texts(mark, below(2) ? d : 0), { headers });
      case 4:
        return admin.put(dept, { deptId: d, ...texts(mark, below(2) ? pick(caller.depts) : d) }, { headers });
      case 5:
        return admin.put(dept, { deptId: pick(caller.depts), ...texts(mark, d) });
      case 6:
        return admin.delete(`${dept}/${below(2) ? `${d},` : ''}${pick(caller.depts)}`, { headers });
      case 7:
        return admin.get(`${people}/list?deptId=${d}`);
      case 8:
        return admin.get(`${people}/list?userName=${target.mark}${below(2) ? `&tenantId=${code}` : ''}`);
      case 9:
        return reader.get(`${people}/${u}${below(2) ? `?tenantId=${code}` : ''}`);
      case 10:
        return admin.put(people, { userId: u, nickName: mark, deptId: d, deptIds: [pick(caller.depts)] }, { headers });
      case 11:
        return admin.put(people, { userId: u, nickName: target.mark, tenantId: code, phone: target.mark });
      case 12:
        return admin.get(`${tenant}/list?pageSize=${1 + below(40)}`);
      case 13:
        return admin.get(`${tenant}/list?tenantName=${target.mark}&tenantParent=${code}`);
      case 14:
        return admin.get(`${tenant}/${target.admin.id}`);
      case 15:
        return admin.put(tenant, { id: target.admin.id, ...textsOfTenant(target.mark) }, { headers });
      case 16:
        return admin.delete(
          `${tenant}/${target.admin.id}`,
          below(2) ? { headers } : { headers: { 'if-match': '"x"' } },
        );
      case 17:
        return reader.get('/auth/me');
      default:
        return reader.get(`${dept}/list?pageSize=500`);
    }
  }

  /** Records what a response shows. Errors are ignored, because they may repeat the ids of their request. */
  function recordShown(caller: Tenant, { code, data, headers }: ApiResponse): void {
    if (code !== 200) return;
    const [kind, id] = String(headers.location ?? '')
      .split('/')
      .slice(-2);
    if (id && kind === 'dept-api') {
      caller.depts.push(id);
      caller.shown.add(`dept ${id}`);
    }
    for (const row of [data?.rows ?? [], data ?? {}, data?.user ?? {}, data?.tenant ?? {}].flat()) {
      if (!row.tenantId) continue;
      rows++;
      caller.shown.add(`tenant ${row.tenantId}`);
      if (row.id) caller.shown.add(`tenant id ${row.id}`);
      if (row.userId) caller.shown.add(`user ${row.userId}`);
      const path = row.ancestors?.split(',') ?? [];
      for (const each of [row.deptId, row.parentId, ...(row.deptIds ?? []), ...path]) {
        if (Number(each)) caller.shown.add(`dept ${each}`);
      }
    }
  }

  await runConcurrently(WORKERS, count, async () => {
    const caller = pick(all);
    const response = await sendRandom(caller);
    tally.add(response.status);
    for (const [mark] of response.text.matchAll(/mark\d+x/g)) {
      const owner = marks.get(mark) as Tenant;
      if (!caller.sees.has(owner)) foreign.push(`${caller.mark} was shown ${response.text}`);
    }
    recordShown(caller, response);
  });

  // Read the real owner of each id directly from the database.
  const owners = new Map<string, string>();
  const known = await service.superuser<{ what: string; code: string }[]>`
    select 'dept ' || dept_id as what, tenant_id as code from departments
    union all select 'user ' || user_id, tenant_id from users
    union all select 'tenant id ' || id, tenant_id from tenants
    union all select 'tenant ' || tenant_id, tenant_id from tenants`;
  for (const { what, code } of known) owners.set(what, code);
  let ids = 0;
  for (const caller of all) {
    const codes = new Set([...caller.sees].map(({ admin }) => admin.tenantId));
    for (const what of caller.shown) {
      ids++;
      const owner = String(owners.get(what));
      if (!codes.has(owner)) foreign.push(`${caller.mark} was shown ${what} of ${owner}`);
    }
  }
  report(t, {
    seed: firstSeed,
    calls: count,
    tenants: all.length,
    rows,
    ids,
    foreign: foreign.length,
    ...tally.counts,
  });
  assert.deepEqual(foreign, []);
  assert.ok(rows > count / 2 && ids > all.length * 5, 'the responses showed too few records');
  for (const status of [500, 503]) assert.equal(tally.get(status), 0, `responses with status ${status}`);
});
