import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chance, isLong, report, scale, seeds, Tally } from '../support/scale.ts';
import { type Client, PASSWORD, type Service, startService } from '../support/service.ts';

/**
 * A model that remembers: after each of many writes by chance, what the service tells of today is kept, with the time.
 * Later it is asked what was, and must tell the same, to the letter.
 */
const service = await startService();
// Times are noted as texts of the writer's zone, and departments are restored by SQL.
await service.superuser`set time zone 'Asia/Shanghai'`;
const dept = '/system/dept-api';
const people = '/system/user-api';
const tenants = '/system/tenant-api';

interface Remembered {
  time: string;
  /** Addresses, and what they answered then. */
  answers: Map<string, string>;
}

/** The answer that a caller sees, without what every answer has of its own. */
const told = async (client: Client, path: string) => (await client.get(path)).text;

const clock = async ({ superuser }: Service): Promise<string> => {
  const [{ time }] = await superuser<[{ time: string }]>`
    select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time`;
  return time;
};

for (const seed of seeds(scale(1, 10))) {
  test(`what was is told as it was told then, seed ${seed}`, async (t) => {
    const { below, pick } = chance(seed);
    const boss = await service.createTenant();
    const depts: string[] = [];
    const users: string[] = [];
    const others: string[] = [boss.id];
    const tally = new Tally();
    const name = () => pick(['研发部', 'Sales', 'sales 100%', 'a_b', '财务"部"', '\u2028\\', 'ß', 'Äpfel']) + below(20);
    const fields = () => ({
      deptName: name(),
      orderNum: below(4) - 1,
      leader: pick([null, '张三', 'Anna', 'anna b']),
      status: pick(['0', '0', '0', '0', '1']),
    });
    const some = (ids: string[]) => (ids.length > 0 ? pick(ids) : '1');
    /** All of them in the long run. */
    const few = (ids: string[], count: number) => {
      const from = below(ids.length + 1);
      return isLong ? ids : [...ids.slice(from), ...ids.slice(0, from)].slice(0, count);
    };

    const writes: Record<string, () => Promise<{ code: number }>> = {
      create: async () => {
        const answer = await boss.post(dept, { ...fields(), parentId: pick(['0', some(depts), some(depts)]) });
        if (answer.code === 200) depts.push(String(answer.headers.location).split('/').at(-1) as string);
        return answer;
      },
      bulk: async () => {
        const departments = [
          { ref: 'a', ...fields() },
          { ref: 'b', parentRef: 'a', ...fields() },
          { ref: 'c', parentRef: 'b', ...fields() },
        ];
        const answer = await boss.post(`${dept}/bulk`, { parentId: pick(['0', some(depts)]), departments });
        depts.push(...(answer.data?.deptIds ?? []).map(String));
        return answer;
      },
      update: () => boss.put(dept, { deptId: some(depts), ...fields() }),
      move: () => boss.put(dept, { deptId: some(depts), ...fields(), parentId: pick(['0', some(depts), some(depts)]) }),
      order: async () => {
        const parentId = pick(['0', some(depts)]);
        const { data } = await boss.get(`${dept}/${parentId}/children`);
        const ids = (data?.rows ?? []).map(({ deptId }: { deptId: number }) => deptId).reverse();
        return boss.put(`${dept}/order`, { parentId, deptIds: ids.length > 0 ? ids : [1] });
      },
      remove: () => boss.delete(`${dept}/${some(depts)}`),
      removeSome: () => boss.delete(`${dept}/${some(depts)},${some(depts)}`),
      removeBranch: () => boss.delete(`${dept}/${some(depts)}?subtree=true`),
      restore: async () => {
        const { count } = await service.superuser`
          update banyan.departments d set del_flag = '0', update_by = 'sql', update_time = now()
          where d.tenant_id = ${boss.tenantId} and d.dept_id = ${some(depts)} and d.del_flag = '2'
            and not exists (select from banyan.departments p
              where p.tenant_id = d.tenant_id and p.dept_id = d.parent_id and p.del_flag <> '0')`;
        return { code: count === 1 ? 200 : 404 };
      },
      addUser: async () => {
        const body = { userName: `u${users.length}`, password: PASSWORD, deptId: pick([null, some(depts)]) };
        const answer = await boss.post(people, body);
        if (answer.code === 200) users.push(String(answer.headers.location).split('/').at(-1) as string);
        return answer;
      },
      updateUser: () =>
        boss.put(people, { userId: some(users), nickName: name(), deptId: null, deptIds: [some(depts)] }),
      password: () => boss.put(people, { userId: some(users), password: `${PASSWORD}${below(10)}` }),
      removeUser: () => boss.delete(`${people}/${some(users)}`),
      addTenant: async () => {
        const answer = await boss.post(tenants, { tenantName: name(), quotaBo: { zr: 1, merchant: 2 } });
        if (answer.code === 200) others.push(String(answer.headers.location).split('/').at(-1) as string);
        return answer;
      },
      updateTenant: async () => {
        const { data } = await boss.get(`${tenants}/list?pageSize=500`);
        const tenantParent = pick(data.rows as { tenantId: string }[]).tenantId;
        return boss.put(tenants, { id: pick(others), tenantName: name(), tenantParent, ruleBo: { modelZr: name() } });
      },
      removeTenant: () => boss.delete(`${tenants}/${pick(others)}`),
    };
    // Departments most of all, and more made than deleted.
    const kinds = [
      ...Object.keys(writes),
      'create',
      'create',
      'create',
      'bulk',
      'update',
      'move',
      'move',
      'restore',
      'addUser',
      'addUser',
      'updateUser',
      'updateTenant',
    ];

    const sorts = ['orderNum', 'deptName', 'createTime', 'updateTime'].flatMap((sort) => [sort, `-${sort}`]);
    const filters = () => [
      `sort=${pick(sorts)}&pageSize=500&withPath=true`,
      `sort=${pick(sorts)}&deptName=${encodeURIComponent(pick(['sales', '%', '_', '部', 'ä']))}&pageSize=3&pageNum=${1 + below(3)}`,
      `leader=ANNA&status=${below(2)}`,
      `parentId=${pick(['0', some(depts)])}&sort=${pick(sorts)}`,
      `underId=${some(depts)}&sort=${pick(sorts)}`,
      `underId=${some(depts)}&parentId=${some(depts)}`,
    ];
    const questions = () => [
      `${dept}/tree?`,
      `${dept}/tree?depth=${1 + below(3)}`,
      `${dept}/tree?rootId=${some(depts)}`,
      `${dept}/tree?rootId=${some(depts)}&depth=1`,
      ...filters().map((filter) => `${dept}/list?${filter}`),
      `${dept}/0/children?limit=${1 + below(5)}`,
      ...[1, 2, 3, 4].map(() => `${dept}/${some(depts)}/children?`),
      ...few(depts, 5).map((id) => `${dept}/${id}?`),
      ...few(users, 2).map((id) => `${people}/${id}?`),
      ...few(others, 2).map((id) => `${tenants}/${id}?`),
      `${people}/9007199254740993?`,
    ];

    const memory: Remembered[] = [];
    for (let step = 0; step < scale(45, 300); step++) {
      const kind = pick(kinds);
      const { code } = await (writes[kind] as () => Promise<{ code: number }>)();
      tally.add(`${kind} ${code}`);
      const time = await clock(service);
      const asked = questions();
      const answers = await Promise.all(asked.map((path) => told(boss, path)));
      memory.push({ time, answers: new Map(asked.map((path, n) => [path, answers[n] as string])) });
    }

    let compared = 0;
    for (let n = 0; n < scale(15, 150); n++) {
      const { time, answers } = pick(memory);
      await Promise.all(
        [...answers].map(async ([path, then]) => {
          const now = await told(boss, `${path}&asOf=${time}`);
          assert.deepEqual(JSON.parse(now), JSON.parse(then), `${path} as of ${time}`);
          compared++;
        }),
      );
    }
    report(t, { compared, ...tally.counts });
  });
}
