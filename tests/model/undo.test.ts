import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chance, report, scale, seeds, Tally } from '../support/scale.ts';
import { type Answer, type Client, startService } from '../support/service.ts';

const service = await startService();
const dept = '/system/dept-api';
const people = '/system/user-api';
const tenants = '/system/tenant-api';
const ledger = '/system/change-api';

type Stamped = { updateBy?: string; updateTime?: string | null };
const withoutStamps = <T extends Stamped>(record: T) => ({ ...record, updateBy: '', updateTime: null });

/** Everything that a caller can see of an organization. */
async function seen(client: Client) {
  const rows = async (path: string) =>
    ((await client.get(`${path}?pageSize=500`)).data.rows as Stamped[]).map(withoutStamps);
  const tree = (await client.get(`${dept}/tree`)).data;
  return {
    tree,
    departments: await rows(`${dept}/list`),
    users: await rows(`${people}/list`),
    tenants: await rows(`${tenants}/list`),
  };
}

test('whatever was done, reverted from the last to the first: the organization is what it was', async (t) => {
  for (const seed of seeds(scale(1, 20))) {
    const boss = await service.createTenant();
    const { below, pick } = chance(seed);
    const depts = [await boss.createDepartment()];
    const users = [await boss.createUser({ userName: 'u' })];
    const children = [await boss.create(tenants, { tenantName: 't', quotaBo: { pf: 3 } })];
    const tally = new Tally();
    const last = async (): Promise<number> =>
      (await boss.get(`${ledger}/list?limit=1&below=false`)).data.rows[0]?.id ?? 0;
    const kept = (ids: string[]) => async (answer: Answer) => {
      const id = String(answer.headers.location ?? '')
        .split('/')
        .at(-1);
      if (answer.code === 200 && id) ids.push(id);
      return answer;
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
    const actions: [string, () => Promise<Answer>][] = [
      ['create', () => boss.post(dept, { parentId: pick(['0', ...depts]), ...fields() }).then(kept(depts))],
      ['create', () => boss.post(dept, { parentId: pick(depts) }).then(kept(depts))],
      ['update', () => boss.put(dept, { deptId: pick(depts), ...fields() })],
      ['move', () => boss.put(dept, { deptId: pick(depts), parentId: pick(['0', ...depts]), ...fields() })],
      ['delete', () => boss.delete(`${dept}/${pick(depts)}`)],
      ['deleteBranch', () => boss.delete(`${dept}/${pick(depts)}?subtree=true`)],
      [
        'bulk',
        () =>
          boss.post(`${dept}/bulk`, {
            parentId: pick(depts),
            departments: [{ ref: 'a' }, { ref: 'b', parentRef: 'a' }],
          }),
      ],
      [
        'order',
        async () => {
          const { data } = await boss.get(`${dept}/0/children`);
          return boss.put(`${dept}/order`, {
            parentId: 0,
            deptIds: data.rows.map(({ deptId }: { deptId: number }) => deptId).reverse(),
          });
        },
      ],
      ['restore', () => boss.post(`${dept}/${pick(depts)}/restore`)],
      ['restoreTo', () => boss.post(`${dept}/${pick(depts)}/restore`, { parentId: pick(['0', ...depts]) })],
      ['createUser', () => boss.post(people, { password: 'correct horse', ...person() }).then(kept(users))],
      ['updateUser', () => boss.put(people, { userId: pick(users), roles: [pick(['admin', 'member'])], ...person() })],
      ['deleteUser', () => boss.delete(`${people}/${pick(users)}`)],
      ['restoreUser', () => boss.post(`${people}/${pick(users)}/restore`)],
      ['createTenant', () => boss.post(tenants, { tenantName: 't' }).then(kept(children))],
      [
        'updateTenant',
        () => boss.put(tenants, { id: pick(children), tenantName: `t${below(9)}`, quotaBo: { merchant: below(9) } }),
      ],
      ['deleteTenant', () => boss.delete(`${tenants}/${pick(children)}`)],
      ['restoreTenant', () => boss.post(`${tenants}/${pick(children)}/restore`)],
      ['revert', async () => boss.post(`${ledger}/${Math.max(1, (await last()) - below(6))}/revert`)],
    ];
    const done: { change: number; before: Awaited<ReturnType<typeof seen>>; name: string }[] = [];
    let known = await last();
    let before = await seen(boss);
    for (let n = 0; n < scale(70, 300); n++) {
      const [name, action] = pick(actions);
      const answer = await action();
      assert.ok(answer.status < 500, answer.text);
      tally.add(`${name} ${answer.code === 200 ? 'done' : 'refused'}`);
      const change = await last();
      if (change === known) continue;
      done.push({ change, before, name });
      known = change;
      before = await seen(boss);
    }
    const reverted = done.slice(-scale(40, 200)).reverse();
    for (const { change, before, name } of reverted) {
      const answer = await boss.post(`${ledger}/${change}/revert`);
      assert.equal(answer.code, 200, `seed ${seed}, reverting ${name} ${change}: ${answer.text}`);
      assert.deepEqual(await seen(boss), before, `seed ${seed}, after reverting ${name} ${change}`);
    }
    report(t, { seed, reverted: reverted.length, ...tally.counts });
  }
});
