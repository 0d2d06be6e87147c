import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseTime } from '../support/expect.ts';
import { isLong, report, scale, seededRandom, seeds, Tally } from '../support/scale.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';

/**
 * Makes random writes and stores the responses of many reads after each, with the time. Later the same reads with asOf
 * must return the stored responses.
 */

const service = await startService();
// This test restores departments with SQL. The time zone of that session must not matter: the ledger stores times in UTC.
await service.superuser`set time zone 'Asia/Shanghai'`;
const dept = '/system/dept-api';
const people = '/system/user-api';
const tenants = '/system/tenant-api';

interface Snapshot {
  time: string;
  /** Response texts by path. */
  responses: Map<string, string>;
}

/** Reads the body of a response. Unlike the headers, it depends only on the content. */
const readText = async (client: Client, path: string) => (await client.get(path)).text;

for (const seed of seeds(scale(1, 2))) {
  test(`reads with asOf return what the same reads returned at that time, seed ${seed}`, async (t) => {
    const { below, pick } = seededRandom(seed);
    const admin = await service.createTenant();
    const depts: string[] = [];
    const users: string[] = [];
    const tenantIds: string[] = [admin.id];
    const tally = new Tally();
    const name = () => pick(['研发部', 'Sales', 'sales 100%', 'a_b', '财务"部"', '\u2028\\', 'ß', 'Äpfel']) + below(20);
    const fields = () => ({
      deptName: name(),
      orderNum: below(4) - 1,
      leader: pick([null, '张三', 'Anna', 'anna b']),
      status: pick(['0', '0', '0', '0', '1']),
    });
    const oneOf = (ids: string[]) => (ids.length > 0 ? pick(ids) : '1');
    /** Returns some of the ids; with test:long, all of them. */
    const someOf = (ids: string[], count: number) => {
      const from = below(ids.length + 1);
      return isLong ? ids : [...ids.slice(from), ...ids.slice(0, from)].slice(0, count);
    };

    const writes: Record<string, () => Promise<{ code: number }>> = {
      create: async () => {
        const response = await admin.post(dept, { ...fields(), parentId: pick(['0', oneOf(depts), oneOf(depts)]) });
        if (response.code === 200) depts.push(String(response.headers.location).split('/').at(-1) as string);
        return response;
      },
      bulk: async () => {
        const departments = [
          { ref: 'a', ...fields() },
          { ref: 'b', parentRef: 'a', ...fields() },
          { ref: 'c', parentRef: 'b', ...fields() },
        ];
        const response = await admin.post(`${dept}/bulk`, { parentId: pick(['0', oneOf(depts)]), departments });
        depts.push(...(response.data?.deptIds ?? []).map(String));
        return response;
      },
      update: () => admin.put(dept, { deptId: oneOf(depts), ...fields() }),
      move: () =>
        admin.put(dept, { deptId: oneOf(depts), ...fields(), parentId: pick(['0', oneOf(depts), oneOf(depts)]) }),
      order: async () => {
        const parentId = pick(['0', oneOf(depts)]);
        const { data } = await admin.get(`${dept}/${parentId}/children`);
        const ids = (data?.rows ?? []).map(({ deptId }: { deptId: number }) => deptId).reverse();
        return admin.put(`${dept}/order`, { parentId, deptIds: ids.length > 0 ? ids : [1] });
      },
      remove: () => admin.delete(`${dept}/${oneOf(depts)}`),
      removeSome: () => admin.delete(`${dept}/${oneOf(depts)},${oneOf(depts)}`),
      removeSubtree: () => admin.delete(`${dept}/${oneOf(depts)}?subtree=true`),
      restore: async () => {
        const { count } = await service.superuser`
          update banyan.departments d set del_flag = '0', update_by = 'sql', update_time = now()
          where d.tenant_id = ${admin.tenantId} and d.dept_id = ${oneOf(depts)} and d.del_flag = '2'
            and not exists (select from banyan.departments p
              where p.tenant_id = d.tenant_id and p.dept_id = d.parent_id and p.del_flag <> '0')`;
        return { code: count === 1 ? 200 : 404 };
      },
      addUser: async () => {
        const body = { userName: `u${users.length}`, password: PASSWORD, deptId: pick([null, oneOf(depts)]) };
        const response = await admin.post(people, body);
        if (response.code === 200) users.push(String(response.headers.location).split('/').at(-1) as string);
        return response;
      },
      updateUser: () =>
        admin.put(people, { userId: oneOf(users), nickName: name(), deptId: null, deptIds: [oneOf(depts)] }),
      password: () => admin.put(people, { userId: oneOf(users), password: `${PASSWORD}${below(10)}` }),
      removeUser: () => admin.delete(`${people}/${oneOf(users)}`),
      addTenant: async () => {
        const response = await admin.post(tenants, { tenantName: name(), quotaBo: { zr: 1, merchant: 2 } });
        if (response.code === 200) tenantIds.push(String(response.headers.location).split('/').at(-1) as string);
        return response;
      },
      updateTenant: async () => {
        const { data } = await admin.get(`${tenants}/list?pageSize=500`);
        const tenantParent = pick(data.rows as { tenantId: string }[]).tenantId;
        return admin.put(tenants, {
          id: pick(tenantIds),
          tenantName: name(),
          tenantParent,
          ruleBo: { modelZr: name() },
        });
      },
      removeTenant: () => admin.delete(`${tenants}/${pick(tenantIds)}`),
    };
    // Mostly departments, and more creations than deletions.
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
      `parentId=${pick(['0', oneOf(depts)])}&sort=${pick(sorts)}`,
      `underId=${oneOf(depts)}&sort=${pick(sorts)}`,
      `underId=${oneOf(depts)}&parentId=${oneOf(depts)}`,
    ];
    const choosePaths = () => [
      `${dept}/tree?`,
      `${dept}/tree?depth=${1 + below(3)}`,
      `${dept}/tree?rootId=${oneOf(depts)}`,
      `${dept}/tree?rootId=${oneOf(depts)}&depth=1`,
      ...filters().map((filter) => `${dept}/list?${filter}`),
      `${dept}/0/children?limit=${1 + below(5)}`,
      ...[1, 2, 3, 4].map(() => `${dept}/${oneOf(depts)}/children?`),
      ...someOf(depts, 5).map((id) => `${dept}/${id}?`),
      ...someOf(users, 2).map((id) => `${people}/${id}?`),
      ...someOf(tenantIds, 2).map((id) => `${tenants}/${id}?`),
      `${people}/9007199254740993?`,
    ];

    const snapshots: Snapshot[] = [];
    for (let step = 0; step < scale(16, 200); step++) {
      const kind = pick(kinds);
      const { code } = await (writes[kind] as () => Promise<{ code: number }>)();
      tally.add(`${kind} ${code}`);
      // The everyday run stores responses only after every second write.
      if (!isLong && step % 2 > 0) continue;
      const time = await databaseTime(service);
      const paths = choosePaths();
      const texts = await Promise.all(paths.map((path) => readText(admin, path)));
      snapshots.push({ time, responses: new Map(paths.map((path, n) => [path, texts[n] as string])) });
    }

    let compared = 0;
    for (let n = 0; n < scale(8, 100); n++) {
      const { time, responses } = pick(snapshots);
      await Promise.all(
        [...responses].map(async ([path, original]) => {
          const historic = await readText(admin, `${path}&asOf=${time}`);
          assert.deepEqual(JSON.parse(historic), JSON.parse(original), `${path} as of ${time}`);
          compared++;
        }),
      );
    }
    report(t, { compared, ...tally.counts });
  });
}
