import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chance, firstSeed, report, scale, Tally, together } from '../support/scale.ts';
import { type Answer, type Client, startService } from '../support/service.ts';

/**
 * Many tenants through two connections at once, by chance. Each tenant's texts carry its mark; no answer may carry the
 * mark of a tenant that its caller may not see, nor an id of one.
 */

const service = await startService({}, { connections: 2 });
const [dept, people, tenant] = ['/system/dept-api', '/system/user-api', '/system/tenant-api'];
const WORKERS = 16;

interface Tenant {
  boss: Client & { id: string };
  member: Client;
  mark: string;
  /** Whose rows its callers may see: its own, and of those below. */
  sees: Set<Tenant>;
  depts: string[];
  users: string[];
  /** What the answers told as existing. */
  shown: Set<string>;
}
const all: Tenant[] = [];

async function make(above?: Tenant): Promise<Tenant> {
  const mark = `mark${all.length}x`;
  const boss = await service.createTenant(textsOfTenant(mark), above?.boss);
  const made: Tenant = {
    boss,
    member: boss,
    mark,
    sees: new Set(),
    depts: [],
    users: [],
    shown: new Set(),
  };
  all.push(made);
  for (let n = 0; n < 4; n++) made.depts.push(await boss.createDepartment(texts(mark, n ? made.depts[0] : 0)));
  const [deptId, ...deptIds] = made.depts;
  const member = await service.createMember(boss, { userName: `${mark}m`, nickName: mark, deptId, deptIds });
  made.member = member;
  made.users.push(member.id, await boss.createUser({ userName: `${mark}u`, nickName: mark, phone: mark }));
  return made;
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
  const above = await make();
  const child = await make(above);
  const grandchild = await make(child);
  for (const each of [above, child, grandchild]) each.sees.add(each);
  child.sees.add(grandchild);
  for (const each of [child, grandchild]) above.sees.add(each);
}

test('random calls of many tenants through two connections: no foreign row in any answer', async (t) => {
  const count = scale(350, 100_000);
  const { below, pick } = chance(firstSeed);
  const tally = new Tally();
  const marks = new Map(all.map((each) => [each.mark, each]));
  let rows = 0;

  /** One call: mostly about what is the caller's own, often about what is another's. */
  function call(who: Tenant): Promise<Answer> {
    const { boss, member, mark } = who;
    const whose = below(3) ? who : pick(all);
    const [d, u] = [pick(whose.depts), pick(whose.users)];
    const reader = below(3) ? boss : member;
    // The same keys for all: what was answered to one is not told to another.
    const headers = below(3) ? {} : { 'idempotency-key': `key ${below(30)}` };
    const code = whose.boss.tenantId;
    switch (below(19)) {
      case 0:
        return reader.get(`${dept}/list?pageSize=${1 + below(40)}&pageNum=${1 + below(3)}`);
      case 1:
        return reader.get(`${dept}/list?deptName=${whose.mark}&parentId=${below(2) ? d : 0}`);
      case 2:
        return reader.get(`${dept}/${d}?includeDeleted=${below(2) === 0}`);
      case 3:
        return boss.post(dept, texts(mark, below(2) ? d : 0), { headers });
      case 4:
        return boss.put(dept, { deptId: d, ...texts(mark, below(2) ? pick(who.depts) : d) }, { headers });
      case 5:
        return boss.put(dept, { deptId: pick(who.depts), ...texts(mark, d) });
      case 6:
        return boss.delete(`${dept}/${below(2) ? `${d},` : ''}${pick(who.depts)}`, { headers });
      case 7:
        return boss.get(`${people}/list?deptId=${d}`);
      case 8:
        return boss.get(`${people}/list?userName=${whose.mark}${below(2) ? `&tenantId=${code}` : ''}`);
      case 9:
        return reader.get(`${people}/${u}${below(2) ? `?tenantId=${code}` : ''}`);
      case 10:
        return boss.put(people, { userId: u, nickName: mark, deptId: d, deptIds: [pick(who.depts)] }, { headers });
      case 11:
        return boss.put(people, { userId: u, nickName: whose.mark, tenantId: code, phone: whose.mark });
      case 12:
        return boss.get(`${tenant}/list?pageSize=${1 + below(40)}`);
      case 13:
        return boss.get(`${tenant}/list?tenantName=${whose.mark}&tenantParent=${code}`);
      case 14:
        return boss.get(`${tenant}/${whose.boss.id}`);
      case 15:
        return boss.put(tenant, { id: whose.boss.id, ...textsOfTenant(whose.mark) }, { headers });
      case 16:
        return boss.delete(`${tenant}/${whose.boss.id}`, below(2) ? { headers } : { headers: { 'if-match': '"x"' } });
      case 17:
        return reader.get('/auth/me');
      default:
        return reader.get(`${dept}/list?pageSize=500`);
    }
  }

  /** Notes what an answer shows as existing; a refusal may repeat the ids that its request named. */
  function note(who: Tenant, { code, data, headers }: Answer): void {
    if (code !== 200) return;
    const [kind, id] = String(headers.location ?? '')
      .split('/')
      .slice(-2);
    if (id && kind === 'dept-api') {
      who.depts.push(id);
      who.shown.add(`dept ${id}`);
    }
    for (const row of [data?.rows ?? [], data ?? {}, data?.user ?? {}, data?.tenant ?? {}].flat()) {
      if (!row.tenantId) continue;
      rows++;
      who.shown.add(`tenant ${row.tenantId}`);
      if (row.id) who.shown.add(`tenant id ${row.id}`);
      if (row.userId) who.shown.add(`user ${row.userId}`);
      const path = row.ancestors?.split(',') ?? [];
      for (const each of [row.deptId, row.parentId, ...(row.deptIds ?? []), ...path]) {
        if (Number(each)) who.shown.add(`dept ${each}`);
      }
    }
  }

  await together(WORKERS, count, async () => {
    const who = pick(all);
    const answer = await call(who);
    tally.add(answer.status);
    for (const [mark] of answer.text.matchAll(/mark\d+x/g)) {
      const whose = marks.get(mark) as Tenant;
      assert.ok(who.sees.has(whose), `${who.mark} was shown ${answer.text}`);
    }
    note(who, answer);
  });

  // Whose each id really is, from behind the service's back.
  const owners = new Map<string, string>();
  const known = await service.superuser<{ what: string; code: string }[]>`
    select 'dept ' || dept_id as what, tenant_id as code from departments
    union all select 'user ' || user_id, tenant_id from users
    union all select 'tenant id ' || id, tenant_id from tenants
    union all select 'tenant ' || tenant_id, tenant_id from tenants`;
  for (const { what, code } of known) owners.set(what, code);
  let ids = 0;
  for (const who of all) {
    const codes = new Set([...who.sees].map(({ boss }) => boss.tenantId));
    for (const what of who.shown) {
      ids++;
      assert.ok(codes.has(String(owners.get(what))), `${who.mark} was shown ${what} of ${owners.get(what)}`);
    }
  }
  report(t, { seed: firstSeed, calls: count, tenants: all.length, rows, ids, foreign: 0, ...tally.counts });
  assert.ok(rows > count / 2 && ids > all.length * 5, 'the answers showed something');
  for (const status of [500, 503]) assert.equal(tally.get(status), 0, `answers of ${status}`);
});
