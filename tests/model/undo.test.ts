import assert from 'node:assert/strict';
import { test } from 'node:test';
import { report, scale, seededRandom, seeds, Tally } from '../support/scale.ts';
import { type ApiResponse, type Client, startService } from '../support/service.ts';

const service = await startService();
const dept = '/system/dept-api';
const people = '/system/user-api';
const tenants = '/system/tenant-api';
const changes = '/system/change-api';

type Audited = { updateBy?: string; updateTime?: string | null };
const withoutAudit = <T extends Audited>(record: T) => ({ ...record, updateBy: '', updateTime: null });

/** Everything that a caller can read of an organization. */
async function readAll(client: Client) {
  const rows = async (path: string) =>
    ((await client.get(`${path}?pageSize=500`)).data.rows as Audited[]).map(withoutAudit);
  const tree = (await client.get(`${dept}/tree`)).data;
  return {
    tree,
    departments: await rows(`${dept}/list`),
    users: await rows(`${people}/list`),
    tenants: await rows(`${tenants}/list`),
  };
}

test('reverting random changes from the last to the first restores the organization step by step', async (t) => {
  for (const seed of seeds(scale(1, 4))) {
    const admin = await service.createTenant();
    const { below, pick } = seededRandom(seed);
    const depts = [await admin.createDepartment()];
    const users = [await admin.createUser({ userName: 'u' })];
    const children = [await admin.create(tenants, { tenantName: 't', quotaBo: { pf: 3 } })];
    const tally = new Tally();
    const latestChange = async (): Promise<number> =>
      (await admin.get(`${changes}/list?limit=1&below=false`)).data.rows[0]?.id ?? 0;
    const addIdTo = (ids: string[]) => async (response: ApiResponse) => {
      const id = String(response.headers.location ?? '')
        .split('/')
        .at(-1);
      if (response.code === 200 && id) ids.push(id);
      return response;
    };
    const fields = () => ({
      deptName: `d${below(100)}`,
      orderNum: below(9),
      leader: pick([null, '张三']),
      status: pick(['0', '0', '1']),
    });
    const person = () => ({
      userName: `u${below(30)}`,
      deptId: pick([null, pick(depts)]),
      deptIds: [pick(depts)],
      phone: pick([null, '1']),
    });
    const actions: [string, () => Promise<ApiResponse>][] = [
      ['create', () => admin.post(dept, { parentId: pick(['0', ...depts]), ...fields() }).then(addIdTo(depts))],
      ['create', () => admin.post(dept, { parentId: pick(depts) }).then(addIdTo(depts))],
      ['update', () => admin.put(dept, { deptId: pick(depts), ...fields() })],
      ['move', () => admin.put(dept, { deptId: pick(depts), parentId: pick(['0', ...depts]), ...fields() })],
      ['delete', () => admin.delete(`${dept}/${pick(depts)}`)],
      ['deleteSubtree', () => admin.delete(`${dept}/${pick(depts)}?subtree=true`)],
      [
        'bulk',
        () =>
          admin.post(`${dept}/bulk`, {
            parentId: pick(depts),
            departments: [{ ref: 'a' }, { ref: 'b', parentRef: 'a' }],
          }),
      ],
      [
        'order',
        async () => {
          const { data } = await admin.get(`${dept}/0/children`);
          return admin.put(`${dept}/order`, {
            parentId: 0,
            deptIds: data.rows.map(({ deptId }: { deptId: number }) => deptId).reverse(),
          });
        },
      ],
      ['restore', () => admin.post(`${dept}/${pick(depts)}/restore`)],
      ['restoreTo', () => admin.post(`${dept}/${pick(depts)}/restore`, { parentId: pick(['0', ...depts]) })],
      ['createUser', () => admin.post(people, { password: 'correct horse', ...person() }).then(addIdTo(users))],
      ['updateUser', () => admin.put(people, { userId: pick(users), roles: [pick(['admin', 'member'])], ...person() })],
      ['deleteUser', () => admin.delete(`${people}/${pick(users)}`)],
      ['restoreUser', () => admin.post(`${people}/${pick(users)}/restore`)],
      ['createTenant', () => admin.post(tenants, { tenantName: 't' }).then(addIdTo(children))],
      [
        'updateTenant',
        () => admin.put(tenants, { id: pick(children), tenantName: `t${below(9)}`, quotaBo: { merchant: below(9) } }),
      ],
      ['deleteTenant', () => admin.delete(`${tenants}/${pick(children)}`)],
      ['restoreTenant', () => admin.post(`${tenants}/${pick(children)}/restore`)],
      ['revert', async () => admin.post(`${changes}/${Math.max(1, (await latestChange()) - below(6))}/revert`)],
    ];
    const applied: { change: number; before: Awaited<ReturnType<typeof readAll>>; name: string }[] = [];
    let lastSeen = await latestChange();
    let before = await readAll(admin);
    for (let n = 0; n < scale(20, 300); n++) {
      const [name, action] = pick(actions);
      const response = await action();
      assert.ok(response.status < 500, response.text);
      tally.add(`${name} ${response.code === 200 ? 'succeeded' : 'rejected'}`);
      const change = await latestChange();
      if (change === lastSeen) continue;
      applied.push({ change, before, name });
      lastSeen = change;
      before = await readAll(admin);
    }
    const reverted = applied.slice(-scale(14, 200)).reverse();
    for (const { change, before, name } of reverted) {
      const response = await admin.post(`${changes}/${change}/revert`);
      assert.equal(response.code, 200, `seed ${seed}, reverting ${name} ${change}: ${response.text}`);
      assert.deepEqual(await readAll(admin), before, `seed ${seed}, after reverting ${name} ${change}`);
    }
    report(t, { seed, reverted: reverted.length, ...tally.counts });
  }
});
