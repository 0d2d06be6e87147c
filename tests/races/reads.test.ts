import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';
import { outcomeOf } from '../support/expect.ts';
import { firstSeed, report, runConcurrently, scale, seededRandom } from '../support/scale.ts';
import { Client, startService } from '../support/service.ts';
import { runBeforeStatement } from '../support/statements.ts';
import { waitFor } from '../support/wait.ts';

/**
 * Concurrent reads of departments are batched, and paths are cached per tree version. Neither may be visible: each caller
 * gets the response they would get alone, and after an acknowledged write every node shows it.
 */

const nodeA = await startService();
const nodeB = await startService({ DATABASE_URL: nodeA.databaseUrl });
const at = (node: typeof nodeA, client: Client) => new Client(node.base, client.token, '', client.tenantId);

const dept = '/system/dept-api';

test('after an acknowledged move both nodes show the new paths of the whole subtree', async (t) => {
  const admin = await nodeA.createTenant();
  const nodes = [at(nodeA, admin), at(nodeB, admin)];
  const { below, pick } = seededRandom(firstSeed);
  const parents = new Map<string, string>();
  for (let n = 0; n < 20; n++) {
    const parentId = n < 3 ? '0' : pick([...parents.keys()]);
    parents.set(await admin.createDepartment({ parentId }), parentId);
  }
  const pathOf = (id: string): string => {
    const parent = parents.get(id) as string;
    return parent === '0' ? '0' : `${pathOf(parent)},${parent}`;
  };
  const ids = [...parents.keys()];
  let moved = 0;
  for (let round = 0; round < scale(8, 600); round++) {
    const [deptId, parentId] = [pick(ids), below(8) ? pick(ids) : '0'];
    const response = await pick(nodes).put(dept, { deptId, parentId });
    const cycle = parentId === deptId || (parentId !== '0' && `${pathOf(parentId)},`.includes(`,${deptId},`));
    assert.equal(outcomeOf(response), cycle ? '409 DEPT_CYCLE' : '200 OK', response.text);
    if (!cycle) {
      parents.set(deptId, parentId);
      moved++;
    }
    const sample = Array.from({ length: 5 }, () => pick(ids));
    const responses = await Promise.all(nodes.flatMap((node) => sample.map((id) => node.get(`${dept}/${id}`))));
    for (const { data } of responses) {
      assert.deepEqual(
        [data.ancestors, String(data.parentId)],
        [pathOf(String(data.deptId)), parents.get(String(data.deptId))],
      );
    }
  }
  report(t, { seed: firstSeed, moved });
});

test('each read shows the tree of one moment while a subtree is moved back and forth', async (t) => {
  const admin = await nodeA.createTenant();
  const nodes = [at(nodeA, admin), at(nodeB, admin)];
  const homes = [
    await admin.createDepartment(),
    await admin.createDepartment({ parentId: await admin.createDepartment() }),
  ];
  const subtree = await admin.createDepartment({ parentId: homes[0] });
  const leaf = await admin.createDepartment({ parentId: await admin.createDepartment({ parentId: subtree }) });
  const paths = new Set<string>();
  const addPath = async () => {
    const { data } = await admin.get(`${dept}/${leaf}`);
    paths.add(data.ancestors);
  };
  await addPath();
  await admin.put(dept, { deptId: subtree, parentId: homes[1] });
  await addPath();
  let moving = true;
  let reads = 0;
  const readers = Array.from({ length: 16 }, async (_, n) => {
    const node = nodes[n % 2] as Client;
    while (moving) {
      const [{ data: own }, { data: below }] = await Promise.all([
        node.get(`${dept}/${subtree}`),
        node.get(`${dept}/${leaf}`),
      ]);
      assert.equal(own.ancestors.split(',').at(-1), String(own.parentId), 'the path ends with the parent');
      assert.ok(paths.has(below.ancestors), below.ancestors);
      reads += 2;
    }
  });
  const moves = scale(4, 200);
  for (let n = 0; n < moves; n++) {
    assert.equal((await admin.put(dept, { deptId: subtree, parentId: homes[n % 2] })).code, 200);
  }
  moving = false;
  await Promise.all(readers);
  report(t, { moves, reads });
});

test('140 concurrent requests of five callers each get their own response or error', async () => {
  const tenants = await Promise.all([nodeA.createTenant(), nodeA.createTenant(), nodeA.createTenant()]);
  const [first] = tenants;
  const disabled = await nodeA.createMember(first);
  const loggedOut = await nodeA.createMember(first);
  const ids = await Promise.all(tenants.map((admin) => admin.createDepartment({ deptName: admin.tenantId })));
  const deleted = await first.createDepartment();
  await first.delete(`${dept}/${deleted}`);
  await first.put('/system/user-api', { userId: disabled.id, status: '1' });
  await loggedOut.post('/auth/logout');
  const calls: [Client, string, string][] = [
    ...tenants.flatMap((admin, n) =>
      ids.map((id, m): [Client, string, string] => [
        admin,
        id,
        n === m ? `200 ${admin.tenantId}` : '404 DEPT_NOT_FOUND',
      ]),
    ),
    [first, deleted, '404 DEPT_NOT_FOUND'],
    [first, `${deleted}?includeDeleted=true`, '200 '],
    [first, '9007199254740993', '404 DEPT_NOT_FOUND'],
    [disabled, ids[0] as string, '403 USER_DISABLED'],
    [loggedOut, ids[0] as string, '401 SESSION_ENDED'],
  ];
  // Stay below the limit of concurrent requests.
  await runConcurrently(10, scale(10, 40), async () => {
    await Promise.all(
      calls.map(async ([client, id, expected]) => {
        const { status, data } = await client.get(`${dept}/${id}`);
        assert.equal(`${status} ${data?.reason ?? data.deptName}`, expected);
      }),
    );
  });
});

test('both nodes show immediately that a department was created, changed, disabled or deleted', async () => {
  const admin = await nodeA.createTenant();
  const nodes = [at(nodeA, admin), at(nodeB, admin)];
  for (let round = 0; round < scale(2, 20); round++) {
    const deptId = await admin.createDepartment({ deptName: 'new' });
    const child = await admin.createDepartment({ parentId: deptId });
    for (const node of nodes) assert.equal((await node.get(`${dept}/${child}`)).data.ancestors, `0,${deptId}`);
    await admin.put(dept, { deptId, deptName: 'changed', status: '1' });
    for (const node of nodes) {
      const { data } = await node.get(`${dept}/${deptId}`);
      assert.deepEqual([data.deptName, data.status], ['changed', '1']);
    }
    await admin.delete(`${dept}/${child}`);
    for (const node of nodes) assert.equal((await node.get(`${dept}/${child}`)).status, 404);
  }
});

/**
 * A read whose path is not cached sends one batched statement, and then a transaction that reads the departments and walks their
 * paths. The service `slow` awaits these functions before the walk, and after the batched statement.
 */
let beforeWalk = async () => {};
let afterRead = async () => {};
let between = Promise.resolve();
const pauseAfterRead = (db: Database): Database => ({
  ...db,
  async use(work) {
    await between;
    let read = false;
    const detectRead = (sql: Sql) =>
      new Proxy(sql, {
        apply(target, self, args) {
          read ||= String(args[0]).includes('read_departments(');
          return Reflect.apply(target as never, self, args);
        },
      });
    const result = await db.use((sql) => work(detectRead(sql)));
    if (read) between = afterRead();
    await between;
    return result;
  },
});
// This statement walks the paths.
const delayWalk = runBeforeStatement('with recursive up (id, parent_id)', () => beforeWalk());
let opened = () => 0;
const captureOpened = (db: Database): Database => {
  opened = db.connectionsOpened;
  return db;
};
const slow = await startService({}, { wrapDatabase: (db) => pauseAfterRead(delayWalk(captureOpened(db))) });

test('a read that walks a path uses one snapshot: a move just before the walk does not affect it', async () => {
  const admin = await slow.createTenant();
  const [before, after] = [await admin.createDepartment(), await admin.createDepartment()];
  const subtree = await admin.createDepartment({ parentId: before });
  const leaf = await admin.createDepartment({ parentId: subtree });
  let moved = 0;
  beforeWalk = async () => {
    if (++moved === 1) assert.equal((await admin.put(dept, { deptId: subtree, parentId: after })).code, 200);
  };
  assert.equal((await admin.get(`${dept}/${leaf}`)).data.ancestors, `0,${before},${subtree}`);
  assert.equal((await admin.get(`${dept}/${leaf}`)).data.ancestors, `0,${after},${subtree}`);
  assert.equal(moved, 2, 'the second read walked the path again');
  beforeWalk = async () => {};
});

test('a read fails when its caller is logged out after the batched statement and before the path is walked', async () => {
  const admin = await slow.createTenant();
  const member = await slow.createMember(admin);
  const leaf = await admin.createDepartment({
    parentId: await admin.createDepartment({ parentId: await admin.createDepartment() }),
  });
  let loggedOut = 0;
  // Delete the session in SQL: a logout through the service would wait for this read.
  afterRead = async () => {
    loggedOut += (await slow.superuser`delete from banyan.sessions where user_id = ${member.id}`).count;
  };
  assert.equal(outcomeOf(await member.get(`${dept}/${leaf}`)), '401 SESSION_ENDED');
  assert.equal(loggedOut, 1);
  afterRead = async () => {};
});

test('cached paths are dropped after a database restore, even when the tree version is the same', async () => {
  const admin = await slow.createTenant();
  const [before, after] = [await admin.createDepartment(), await admin.createDepartment()];
  const subtree = await admin.createDepartment({ parentId: before });
  const leaf = await admin.createDepartment({ parentId: await admin.createDepartment({ parentId: subtree }) });
  const pathOf = async () => (await admin.get(`${dept}/${leaf}`)).data.ancestors.split(',').slice(1, 3);
  // Change a parent without changing the tree version, as a restore of a backup and new writes would.
  await slow.superuser`set session_replication_role = replica`;
  // Background work may open another connection at this moment, and then the path is rightly walked again: try again.
  let parent = '';
  for (let connections = -1; connections !== opened(); ) {
    connections = opened();
    const cached = await pathOf();
    parent = cached[0] === before ? after : before;
    await slow.superuser`update banyan.departments set parent_id = ${parent} where dept_id = ${subtree}`;
    const again = await pathOf();
    if (connections === opened()) assert.deepEqual(again, cached, 'the path is cached');
  }
  const terminated = await slow.superuser<{ pid: number }[]>`
    select pid, pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = 'banyan_service_' || datid`;
  const pids = terminated.map(({ pid }) => pid);
  await waitFor('the connections are closed', async () => {
    const left = await slow.superuser`select from pg_stat_activity where pid = any(${pids})`;
    return left.length === 0;
  });
  await waitFor('the service has new connections', async () => {
    const { status } = await admin.get(`${dept}/${subtree}`);
    if (status !== 200) assert.equal(status, 503);
    return status === 200;
  });
  assert.deepEqual(await pathOf(), [parent, subtree]);
});
