import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectOk, outcomeOf, read, TENANTS } from '../support/expect.ts';
import { csv, importFile } from '../support/import.ts';
import { report, runConcurrently, scale, seededRandom, seeds, Tally } from '../support/scale.ts';
import { type ApiResponse, type Client, startService } from '../support/service.ts';
import { runBeforeStatement } from '../support/statements.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const LEVELS = 4;
const environment = { BANYAN_DEPARTMENT_LEVELS: String(LEVELS), BANYAN_TENANT_LEVELS: String(LEVELS) };
/** What the service awaits before it inserts a department. */
let beforeInsert = async () => {};
/** What the service awaits before it restores departments. */
let beforeRestore = async () => {};
/** How many statements have inserted or restored departments. A transaction that is retried adds to it again. */
let writes = 0;
const service = await startService(environment, {
  wrapDatabase: (db) => {
    const counted = runBeforeStatement("set del_flag = '0'", async () => {
      writes++;
      await beforeRestore();
    })(db);
    return runBeforeStatement('insert into departments', async () => {
      writes++;
      await beforeInsert();
    })(counted);
  },
});

/** Creates a gate that holds the service at some point of its work until the test opens it. */
function createGate() {
  let isReached = false;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const pass = async () => {
    isReached = true;
    await opened;
  };
  return { pass, isReached: () => isReached, open: () => open() };
}

/**
 * Sends a request while a creation has its locks but has not written yet. The creation continues when the request waits for a lock
 * or is done. Returns both responses.
 */
async function sendDuringCreation(create: () => Promise<ApiResponse>, send: () => Promise<ApiResponse>) {
  const gate = createGate();
  beforeInsert = gate.pass;
  const creating = create();
  await waitFor('the creation has its locks', gate.isReached);
  writes = 1;
  let done = false;
  const next = send().finally(() => (done = true));
  await waitFor('the request waits', async () => done || (await countLockWaits(service.superuser)) === 1);
  beforeInsert = async () => {};
  gate.open();
  return { creating: await creating, next: await next };
}

/**
 * Sends a request that moves the top-level department `subtree` below `home`, while a creation at the bottom of that subtree is
 * in flight. Together they exceed the last level. Returns the response of the move.
 */
async function moveDuringCreation(
  move: (admin: Client, ids: { subtree: string; home: string }) => Promise<ApiResponse>,
) {
  const admin = await service.createTenant();
  const top = await admin.createDepartment();
  const home = await admin.createDepartment({ parentId: top, source: 'hr', externalId: 'home' });
  const subtree = await admin.createDepartment({ source: 'hr', externalId: 'subtree' });
  const below = await admin.createDepartment({ parentId: subtree });
  const { creating, next } = await sendDuringCreation(
    // With a key, the creation has its own transaction.
    () => admin.post(DEPTS, { parentId: below }, { headers: { 'idempotency-key': 'slow' } }),
    () => move(admin, { subtree, home }),
  );
  expectOk(creating);
  return next;
}

test('a move waits for a creation in flight in its subtree, and fails if it is then too deep', async () => {
  const response = await moveDuringCreation((admin, { subtree, home }) =>
    admin.put(DEPTS, { deptId: subtree, parentId: home }),
  );
  expectError(response, 409, 'TOO_DEEP');
});

test('an import that moves a department waits for a creation in flight below it, and fails if it is then too deep', async () => {
  const rows = [
    ['来源系统', '外部编号', '上级外部编号'],
    ['hr', 'subtree', 'home'],
  ];
  const response = await moveDuringCreation((admin) => importFile(admin, 'dept', 'apply', csv(rows)));
  expectError(response, 400, 'ROWS_INVALID');
  assert.match(response.text, /TOO_DEEP/);
});

test('a move during a bulk creation at the top level succeeds, and the depth of what was created limits later moves', async () => {
  const admin = await service.createTenant();
  const [home, other] = [await admin.createDepartment(), await admin.createDepartment()];
  let held = false;
  let released = false;
  beforeInsert = async () => {
    held = true;
    await waitFor('the move waits or is done', () => released);
  };
  const departments = Array.from({ length: LEVELS }, (_, n) => ({
    ref: String(n),
    deptName: `level ${n}`,
    ...(n > 0 ? { parentRef: String(n - 1) } : {}),
  }));
  const creating = admin.post(`${DEPTS}/bulk`, { departments });
  await waitFor('the bulk creation has its locks', () => held);
  beforeInsert = async () => {};
  let moved = false;
  const moving = admin.put(DEPTS, { deptId: other, parentId: home }).finally(() => (moved = true));
  await waitFor('the move waits', async () => moved || (await countLockWaits(service.superuser)) === 1);
  released = true;
  const created = await creating;
  assert.equal(created.code, 200, created.text);
  expectOk(await moving);
  expectError(await admin.put(DEPTS, { deptId: created.data.deptIds[0], parentId: home }), 409, 'TOO_DEEP');
});

test('a restore waits for a creation with the same external id, without a deadlock', async () => {
  const admin = await service.createTenant();
  const parentId = await admin.createDepartment();
  const external = { source: 'hr', externalId: 'taken' };
  const deleted = await admin.createDepartment(external);
  await admin.delete(`${DEPTS}/${deleted}`);
  const { creating, next: restoring } = await sendDuringCreation(
    () => admin.post(DEPTS, { parentId, ...external }),
    () => admin.post(`${DEPTS}/${deleted}/restore`),
  );
  expectOk(creating);
  expectError(restoring, 409, 'EXTERNAL_ID_TAKEN');
  assert.equal(writes, 2);
});

test('departments are created while others without external ids are being restored', async () => {
  const admin = await service.createTenant();
  const parentId = await admin.createDepartment();
  const deleted = await admin.createDepartment();
  await admin.delete(`${DEPTS}/${deleted}`);
  const gate = createGate();
  beforeRestore = gate.pass;
  const restoring = admin.post(`${DEPTS}/${deleted}/restore`);
  await waitFor('the restore is about to write', gate.isReached);
  let done = false;
  const creating = admin.post(DEPTS, { parentId }).finally(() => (done = true));
  await waitFor('the creation is done, or waits', async () => done || (await countLockWaits(service.superuser)) === 1);
  const waited = !done;
  beforeRestore = async () => {};
  gate.open();
  expectOk(await creating);
  expectOk(await restoring);
  assert.equal(waited, false);
});

test('concurrent bulk creations of the same external ids in opposite order do not deadlock', async () => {
  const admin = await service.createTenant();
  const departments = Array.from({ length: 1_000 }, (_, n) => ({ ref: `${n}`, source: 'hr', externalId: `${n}` }));
  const waiting: (() => void)[] = [];
  beforeInsert = () => new Promise((resolve) => waiting.push(resolve));
  const responses = [departments, departments.toReversed()].map((each) =>
    admin.post(`${DEPTS}/bulk`, { departments: each }),
  );
  await waitFor('both are about to insert', () => waiting.length === 2);
  writes = 2;
  beforeInsert = async () => {};
  for (const resume of waiting) resume();
  const outcomes = (await Promise.all(responses)).map(({ data }) => data.reason ?? 'done');
  assert.deepEqual(outcomes.sort(), ['EXTERNAL_ID_TAKEN', 'done']);
  assert.equal(writes, 2);
});

interface Page {
  rows: { ancestors: string }[];
  next: string | null;
}

test('concurrent creations, moves, deletions and restores never exceed the last level', async (t) => {
  for (const seed of seeds(scale(1, 2))) {
    const admin = await service.createTenant();
    const { below, pick } = seededRandom(seed);
    const ids = await Promise.all(Array.from({ length: 6 }, () => admin.createDepartment()));
    // A tree that is as deep as it may be.
    for (let level = 1; level < LEVELS; level++) ids.push(await admin.createDepartment({ parentId: ids.at(-1) }));
    expectError(await admin.post(DEPTS, { parentId: ids.at(-1) }), 409, 'TOO_DEEP');
    const outcomes = new Tally();
    await runConcurrently(12, scale(80, 2_000), async () => {
      const [deptId, parentId] = [pick(ids), pick([...ids, '0'])];
      const operations = [
        () => admin.post(DEPTS, { parentId }),
        () => admin.put(DEPTS, { deptId, parentId }),
        () => admin.put(DEPTS, { deptId, parentId }),
        async () => {
          await admin.delete(`${DEPTS}/${deptId}?subtree=true`);
          return admin.post(`${DEPTS}/${deptId}/restore`, { parentId });
        },
        () => admin.post(`${DEPTS}/bulk`, { parentId, departments: [{ ref: 'a' }, { ref: 'b', parentRef: 'a' }] }),
      ];
      const response = await (operations[below(operations.length)] as () => ReturnType<Client['get']>)();
      outcomes.add(outcomeOf(response));
      const created = response.headers.location?.split('/').at(-1);
      if (created) ids.push(created);
      if (response.data?.deptIds && response.status === 200) ids.push(...response.data.deptIds.map(String));
    });
    report(t, { seed, ...outcomes.counts });
    assert.deepEqual(
      Object.keys(outcomes.counts).filter((outcome) => outcome.startsWith('5')),
      [],
    );
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await read(admin, `${DEPTS}/list?cursor=${cursor}&pageSize=500`);
      const deepest = Math.max(...page.rows.map(({ ancestors }) => ancestors.split(',').length));
      assert.ok(deepest <= LEVELS, `seed ${seed}: ${deepest} levels`);
      cursor = page.next;
    }
  }
});

test('a creation below a tenant or a concurrent move of that tenant fails when both together are too deep', async () => {
  const top = await service.createTenant();
  const other = await service.createTenant({}, top);
  for (let n = 0; n < scale(3, 50); n++) {
    const { id, tenantId } = await service.createTenant({}, top);
    const responses = await Promise.all([
      service.root.post(TENANTS, { tenantParent: tenantId }),
      service.root.put(TENANTS, { id, tenantParent: other.tenantId }),
    ]);
    assert.deepEqual(responses.map(outcomeOf).sort(), ['200 OK', '409 TOO_DEEP']);
  }
});
