import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectOk, read, USERS } from '../support/expect.ts';
import { report, scale } from '../support/scale.ts';
import { Client, shareService, startService } from '../support/service.ts';

/** The search shows each acknowledged write, at every node, while others write and search. */

const nodeA = await shareService();
const nodeB = await startService({ DATABASE_URL: nodeA.databaseUrl });
const at = (node: typeof nodeA, client: Client) => new Client(node.base, client.token, '', client.tenantId);

const find = async (client: Client, q: string): Promise<string[]> =>
  (await read(client, `/system/search-api?q=${encodeURIComponent(q)}`)).map(({ id }: { id: string }) => id);

test('after an acknowledged change every node finds the new name and no longer the former one', async (t) => {
  const admin = await nodeA.createTenant();
  const nodes = [at(nodeA, admin), at(nodeB, admin)] as const;
  const rounds = scale(1, 50);
  report(t, { rounds, writers: 4 });
  await Promise.all(
    ['东', '南', '西', '北'].map(async (side) => {
      const parentId = await admin.createDepartment({ deptName: `${side}厂` });
      const deptId = await admin.createDepartment({ parentId, deptName: `${side}线零` });
      const userId = await admin.createUser({ userName: `u${side}`, nickName: `${side}方零`, deptId });
      const number = (n: number) => [...String(n)].map((digit) => '零一二三四五六七八九'[Number(digit)]).join('');
      for (let n = 1; n <= rounds; n++) {
        const [writer, reader] = n % 2 ? nodes : [nodes[1], nodes[0]];
        expectOk(await writer.put(DEPTS, { deptId, deptName: `${side}线${number(n)}` }));
        expectOk(await writer.patch(`${USERS}/${userId}`, { nickName: `${side}方${number(n)}` }));
        for (const node of [reader, writer]) {
          assert.deepEqual(await find(node, `${side}线${number(n)}`), [deptId]);
          assert.deepEqual(await find(node, `${side}厂 线${number(n)}`), [deptId]);
          assert.deepEqual(await find(node, `${side}方${number(n)}`), [userId]);
          assert.deepEqual(await find(node, `${side}线${number(n - 1)}`), [], 'the former name');
          assert.deepEqual(await find(node, `${side}方${number(n - 1)}`), [], 'the former name');
        }
      }
    }),
  );
});
