import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/sql.ts';
import { holdStatement } from '../support/hold.ts';
import { chance, firstSeed, report, scale, together } from '../support/scale.ts';
import { type Answer, Client, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/**
 * Reads of departments go to the database together, and paths are kept as long as the tree has its version. Nobody may
 * see either: each is answered as if he were alone, and after an acknowledged write every node shows it.
 */

const here = await startService();
const there = await startService({ DATABASE_URL: here.databaseUrl });
const at = (node: typeof here, client: Client) => new Client(node.base, client.token, '', client.tenantId);

const dept = '/system/dept-api';
const reasonOf = ({ status, data }: Answer) => `${status} ${data?.reason ?? ''}`.trim();

test('after an acknowledged move both nodes show the new paths, of all that is below too', async (t) => {
  const boss = await here.createTenant();
  const nodes = [at(here, boss), at(there, boss)];
  const { below, pick } = chance(firstSeed);
  const parents = new Map<string, string>();
  for (let n = 0; n < 20; n++) {
    const parentId = n < 3 ? '0' : pick([...parents.keys()]);
    parents.set(await boss.createDepartment({ parentId }), parentId);
  }
  const pathOf = (id: string): string => {
    const parent = parents.get(id) as string;
    return parent === '0' ? '0' : `${pathOf(parent)},${parent}`;
  };
  const ids = [...parents.keys()];
  let moved = 0;
  for (let round = 0; round < scale(25, 2_000); round++) {
    const [deptId, parentId] = [pick(ids), below(8) ? pick(ids) : '0'];
    const answer = await pick(nodes).put(dept, { deptId, parentId });
    const cycle = parentId === deptId || (parentId !== '0' && `${pathOf(parentId)},`.includes(`,${deptId},`));
    assert.equal(reasonOf(answer), cycle ? '409 DEPT_CYCLE' : '200', answer.text);
    if (!cycle) {
      parents.set(deptId, parentId);
      moved++;
    }
    const asked = Array.from({ length: 5 }, () => pick(ids));
    const answers = await Promise.all(nodes.flatMap((node) => asked.map((id) => node.get(`${dept}/${id}`))));
    for (const { data } of answers) {
      assert.deepEqual(
        [data.ancestors, String(data.parentId)],
        [pathOf(String(data.deptId)), parents.get(String(data.deptId))],
      );
    }
  }
  report(t, { seed: firstSeed, moved });
});

test('reads while a branch is moved to and fro: each answer is the tree of one moment', async (t) => {
  const boss = await here.createTenant();
  const nodes = [at(here, boss), at(there, boss)];
  const homes = [
    await boss.createDepartment(),
    await boss.createDepartment({ parentId: await boss.createDepartment() }),
  ];
  const branch = await boss.createDepartment({ parentId: homes[0] });
  const leaf = await boss.createDepartment({ parentId: await boss.createDepartment({ parentId: branch }) });
  const paths = new Set<string>();
  const known = async () => {
    const { data } = await boss.get(`${dept}/${leaf}`);
    paths.add(data.ancestors);
  };
  await known();
  await boss.put(dept, { deptId: branch, parentId: homes[1] });
  await known();
  let moving = true;
  let reads = 0;
  const readers = Array.from({ length: 16 }, async (_, n) => {
    const node = nodes[n % 2] as Client;
    while (moving) {
      const [{ data: own }, { data: below }] = await Promise.all([
        node.get(`${dept}/${branch}`),
        node.get(`${dept}/${leaf}`),
      ]);
      assert.equal(own.ancestors.split(',').at(-1), String(own.parentId), 'its path ends with its parent');
      assert.ok(paths.has(below.ancestors), below.ancestors);
      reads += 2;
    }
  });
  const moves = scale(15, 600);
  for (let n = 0; n < moves; n++) {
    assert.equal((await boss.put(dept, { deptId: branch, parentId: homes[n % 2] })).code, 200);
  }
  moving = false;
  await Promise.all(readers);
  report(t, { moves, reads });
});

test('hundreds who ask at the same moment get each his own answer, or his own refusal', async () => {
  const tenants = await Promise.all([here.createTenant(), here.createTenant(), here.createTenant()]);
  const [first] = tenants;
  const disabled = await here.createMember(first);
  const loggedOut = await here.createMember(first);
  const ids = await Promise.all(tenants.map((boss) => boss.createDepartment({ deptName: boss.tenantId })));
  const gone = await first.createDepartment();
  await first.delete(`${dept}/${gone}`);
  await first.put('/system/user-api', { userId: disabled.id, status: '1' });
  await loggedOut.post('/auth/logout');
  const calls: [Client, string, string][] = [
    ...tenants.flatMap((boss, n) =>
      ids.map((id, m): [Client, string, string] => [boss, id, n === m ? `200 ${boss.tenantId}` : '404 DEPT_NOT_FOUND']),
    ),
    [first, gone, '404 DEPT_NOT_FOUND'],
    [first, `${gone}?includeDeleted=true`, '200 '],
    [first, '9007199254740993', '404 DEPT_NOT_FOUND'],
    [disabled, ids[0] as string, '403 USER_DISABLED'],
    [loggedOut, ids[0] as string, '401 SESSION_ENDED'],
  ];
  // No more at once than are let in.
  await together(10, scale(20, 40), async () => {
    await Promise.all(
      calls.map(async ([client, id, expected]) => {
        const { status, data } = await client.get(`${dept}/${id}`);
        assert.equal(`${status} ${data?.reason ?? data.deptName}`, expected);
      }),
    );
  });
});

test('the department that was just created, changed, disabled or deleted is shown so, at both nodes', async () => {
  const boss = await here.createTenant();
  const nodes = [at(here, boss), at(there, boss)];
  for (let round = 0; round < scale(6, 20); round++) {
    const deptId = await boss.createDepartment({ deptName: 'new' });
    const child = await boss.createDepartment({ parentId: deptId });
    for (const node of nodes) assert.equal((await node.get(`${dept}/${child}`)).data.ancestors, `0,${deptId}`);
    await boss.put(dept, { deptId, deptName: 'changed', status: '1' });
    for (const node of nodes) {
      const { data } = await node.get(`${dept}/${deptId}`);
      assert.deepEqual([data.deptName, data.status], ['changed', '1']);
    }
    await boss.delete(`${dept}/${child}`);
    for (const node of nodes) assert.equal((await node.get(`${dept}/${child}`)).status, 404);
  }
});

test('a move between the two statements of a read changes nothing for that read: it is of one snapshot', async () => {
  let beforeWalk = async () => {};
  /** Lets something happen between the statement that reads departments and the one that walks their paths. */
  const held = holdStatement('with recursive up (id, parent_id)', () => beforeWalk());
  const slow = await startService({}, { between: held });
  const boss = await slow.createTenant();
  const [before, after] = [await boss.createDepartment(), await boss.createDepartment()];
  const branch = await boss.createDepartment({ parentId: before });
  const leaf = await boss.createDepartment({ parentId: branch });
  let moved = 0;
  beforeWalk = async () => {
    if (++moved === 1) assert.equal((await boss.put(dept, { deptId: branch, parentId: after })).code, 200);
  };
  assert.equal((await boss.get(`${dept}/${leaf}`)).data.ancestors, `0,${before},${branch}`);
  assert.equal((await boss.get(`${dept}/${leaf}`)).data.ancestors, `0,${after},${branch}`);
  assert.equal(moved, 2, 'the second read walked anew');
});

test('who is logged out between the two statements of a read is not answered', async () => {
  let afterRead = async () => {};
  let between = Promise.resolve();
  const held = (db: Database): Database => ({
    ...db,
    async use(work) {
      await between;
      let read = false;
      const seen = (sql: Sql) =>
        new Proxy(sql, {
          apply(target, self, args) {
            read ||= String(args[0]).includes('read_departments(');
            return Reflect.apply(target as never, self, args);
          },
        });
      const result = await db.use((sql) => work(seen(sql)));
      if (read) between = afterRead();
      await between;
      return result;
    },
  });
  const slow = await startService({}, { between: held });
  const boss = await slow.createTenant();
  const member = await slow.createMember(boss);
  const leaf = await boss.createDepartment({
    parentId: await boss.createDepartment({ parentId: await boss.createDepartment() }),
  });
  let loggedOut = 0;
  // Not by the service, which would have to wait for itself.
  afterRead = async () => {
    loggedOut += (await slow.superuser`delete from banyan.sessions where user_id = ${member.id}`).count;
  };
  assert.equal(reasonOf(await member.get(`${dept}/${leaf}`)), '401 SESSION_ENDED');
  assert.equal(loggedOut, 1);
});

test('a database that was put back, with an id given anew, is read as it is: no path is known from before', async () => {
  let opened = () => 0;
  const watched = (db: Database): Database => {
    opened = db.opened;
    return db;
  };
  const node = await startService({}, { between: watched });
  const boss = await node.createTenant();
  const [before, after] = [await boss.createDepartment(), await boss.createDepartment()];
  const branch = await boss.createDepartment({ parentId: before });
  const leaf = await boss.createDepartment({ parentId: await boss.createDepartment({ parentId: branch }) });
  const pathOf = async () => (await boss.get(`${dept}/${leaf}`)).data.ancestors.split(',').slice(1, 3);
  // The same stamp of the tree, and another parent: as if it had been made again after the backup.
  await node.superuser`set session_replication_role = replica`;
  // What is done in the background may need one more connection just now, and then the path is rightly walked anew.
  let parent = '';
  for (let connections = -1; connections !== opened(); ) {
    connections = opened();
    const known = await pathOf();
    parent = known[0] === before ? after : before;
    await node.superuser`update banyan.departments set parent_id = ${parent} where dept_id = ${branch}`;
    const again = await pathOf();
    if (connections === opened()) assert.deepEqual(again, known, 'the path is known');
  }
  const ended = await node.superuser<{ pid: number }[]>`
    select pid, pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = 'banyan_service_' || datid`;
  const pids = ended.map(({ pid }) => pid);
  await waitFor('the connections are gone', async () => {
    const left = await node.superuser`select from pg_stat_activity where pid = any(${pids})`;
    return left.length === 0;
  });
  await waitFor('the service has new connections', async () => {
    const { status } = await boss.get(`${dept}/${branch}`);
    if (status !== 200) assert.equal(status, 503);
    return status === 200;
  });
  assert.deepEqual(await pathOf(), [parent, branch]);
});
