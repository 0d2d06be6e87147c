import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActiveTenants } from '../../db/active-tenants.ts';
import { connectService, type Sql, type Tx } from '../../db/driver.ts';
import { errorCode, isConnectionLost, isFatal } from '../../db/errors.ts';
import { hostsOf, parseHosts, selectNextHost } from '../../db/hosts.ts';
import { createPool } from '../../db/pool.ts';
import { begin as beginInMode, commitWith, withSavepoint } from '../../db/transaction.ts';
import { createWriteLimits } from '../../db/write-limits.ts';
import { after } from '../support/cleanup.ts';
import { connectWithoutDeadline, NO_DEADLINES } from '../support/database.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { scale } from '../support/scale.ts';
import { createEmptyDatabase } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The connection pool, in particular when connections break. */

const { superuserUrl } = await createEmptyDatabase();
const superuser = connectWithoutDeadline({ url: superuserUrl });
after(() => superuser.end());
await superuser`create schema banyan`;
await superuser`create table pairs (pair uuid, half int)`;

function openPool(size: number, url = superuserUrl, checkMs = NO_DEADLINES.checkMs) {
  const pool = createPool(connectService('UTC', NO_DEADLINES), size, { ...NO_DEADLINES, checkMs }, hostsOf({ url }));
  after(() => pool.close());
  return pool;
}

/** Starts a proxy of the database. Returns its URL too. */
async function startProxy() {
  const address = new URL(superuserUrl);
  const proxy = new PostgresProxy(`${address.searchParams.get('host')}/.s.PGSQL.5432`);
  address.searchParams.delete('host');
  address.port = String(await proxy.listen());
  return { proxy, url: address.href };
}

const begin = <T>(sql: Sql, work: (tx: Tx) => Promise<T>) =>
  beginInMode(sql, work, 'isolation level read committed read write');
const insertPair = (sql: Sql) =>
  begin(sql, async (tx) => {
    const [{ pair }] = await tx<[{ pair: string }]>`insert into pairs values (gen_random_uuid(), 1) returning pair`;
    await tx`insert into pairs values (${pair}, 2)`;
  });
const insertPairWithCommit = (sql: Sql) =>
  begin(sql, async (tx) => {
    const [{ pair }] = await tx<[{ pair: string }]>`select gen_random_uuid() as pair`;
    await commitWith(tx, () =>
      Promise.all([tx`insert into pairs values (${pair}, 1)`, tx`insert into pairs values (${pair}, 2)`]),
    );
  });
const incompletePairs = async () =>
  superuser`select pair from pairs group by pair having count(*) <> 2 or count(distinct half) <> 2`;
const terminateAll = () => superuser`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

test('when all connections are terminated at once, their transactions fail, and waiting callers get new connections', async () => {
  const pool = openPool(8);
  await pool.use((sql) => sql`select 1`);
  const outcomes = { done: 0, lost: 0 };
  let stopped = false;
  const writer = async () => {
    while (!stopped) {
      try {
        await pool.use((outcomes.done + outcomes.lost) % 2 ? insertPair : insertPairWithCommit);
        outcomes.done++;
      } catch (error) {
        assert.ok(isConnectionLost(errorCode(error)) || isFatal(error), String(error));
        outcomes.lost++;
      }
    }
  };
  // There are more writers than connections: after a loss, a waiting writer takes the next one, which is about to be lost too.
  const writers = Promise.all(Array.from({ length: 24 }, writer));
  const rounds = scale(2, 100);
  for (let round = 0; round < rounds; round++) {
    const { lost } = outcomes;
    // A connection that is terminated between two transactions loses none.
    await waitFor('a transaction is lost', () => terminateAll().then(() => outcomes.lost > lost));
    const { done } = outcomes;
    await waitFor(`writes succeed again in round ${round}`, () => outcomes.done >= done + 20);
  }
  stopped = true;
  await writers;
  assert.deepEqual([...(await incompletePairs())], []);
  const [{ count }] = await superuser<[{ count: number }]>`select count(*) from pairs`;
  // A transaction that was committed but whose response was lost counts as lost.
  assert.ok(count >= 2 * outcomes.done && count <= 2 * (outcomes.done + outcomes.lost), `${count}`);
});

test('a commit that is pipelined with the last statements is rolled back when one fails, and no statement may follow it', async () => {
  const pool = openPool(1);
  const pair = '00000000-0000-4000-8000-000000000001';
  const insert = (tx: Tx, half: unknown) => tx`insert into pairs values (${pair}, ${half as number}::text::int)`;
  const failed = pool.use((sql) =>
    begin(sql, (tx) => commitWith(tx, () => Promise.all([insert(tx, 1), insert(tx, 'two'), insert(tx, 3)]))),
  );
  await assert.rejects(failed, { code: '22P02' });
  const thrown = pool.use((sql) =>
    begin(sql, async (tx) => {
      await insert(tx, 4);
      await commitWith(tx, () => Promise.reject(new Error('not after all')));
    }),
  );
  await assert.rejects(thrown, /not after all/);
  const late = pool.use((sql) =>
    begin(sql, async (tx) => {
      await commitWith(tx, () => insert(tx, 5).then(() => {}));
      await insert(tx, 6);
    }),
  );
  await assert.rejects(late, /The transaction is over/);
  const committed = await pool.use((sql) => sql`delete from pairs where pair = ${pair} returning half`);
  assert.deepEqual([...committed], [{ half: 5 }]);
});

test('a connection that was lost while idle is not used again', async () => {
  let isLost = false;
  const connect = connectService('UTC', NO_DEADLINES);
  const observedConnect: typeof connect = (listener, host) => {
    const onLost = () => {
      listener.onLost();
      isLost = true;
    };
    return connect({ ...listener, onLost }, host);
  };
  const pool = createPool(observedConnect, 1, NO_DEADLINES, hostsOf({ url: superuserUrl }));
  after(() => pool.close());
  const backendPid = async () => {
    const [{ pid }] = await pool.use((sql) => sql<[{ pid: number }]>`select pg_backend_pid() as pid`);
    return pid;
  };
  const before = await backendPid();
  await superuser`select pg_terminate_backend(${before})`;
  await waitFor('the pool notices the loss', () => isLost);
  assert.notEqual(await backendPid(), before);
});

test('waiting callers get connections in order, and no more than the limit are open', async () => {
  const pool = openPool(2);
  const order: number[] = [];
  let [open, maxOpen] = [0, 0];
  let resume = () => {};
  const bothOpen = new Promise<void>((resolve) => {
    resume = resolve;
  });
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      pool.use(async (sql) => {
        order.push(n);
        maxOpen = Math.max(maxOpen, ++open);
        if (open === 2) resume();
        // One connection alone could serve all callers before the second is open.
        if (n === 0) await bothOpen;
        await sql`select 1`;
        open--;
      }),
    ),
  );
  assert.equal(maxOpen, 2);
  assert.deepEqual(
    order,
    Array.from({ length: 20 }, (_, n) => n),
  );
});

test('a statement left over from a failed transaction does not run in the next one', async () => {
  const pool = openPool(1);
  let late: Promise<unknown> = Promise.resolve();
  let resume = () => {};
  const next = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const failing = pool.use((sql) =>
    begin(sql, async (tx) => {
      late = next.then(() => tx`insert into pairs values (gen_random_uuid(), 7)`);
      late.catch(() => {});
      throw new Error('no');
    }),
  );
  await assert.rejects(failing, /^Error: no$/);
  await pool.use((sql) =>
    begin(sql, async (tx) => {
      await tx`select 1`;
      resume();
      await assert.rejects(late, /The transaction is over/);
    }),
  );
  assert.equal((await superuser`select from pairs where half = 7`).length, 0);
});

test('a transaction with an ignored failed statement is not reported as committed', async () => {
  const pool = openPool(1);
  const work = (sql: Sql) =>
    begin(sql, async (tx) => {
      await tx`insert into pairs values (gen_random_uuid(), 8)`;
      await tx`select 1 / 0`.catch(() => {});
    });
  await assert.rejects(pool.use(work), /ended with ROLLBACK/);
  assert.equal((await superuser`select from pairs where half = 8`).length, 0);
});

test('an error rolls back only to its own savepoint, also when savepoints are nested', async () => {
  const pool = openPool(1);
  const insert = (tx: Tx, half: number) => tx`insert into pairs values (gen_random_uuid(), ${half})`;
  const failing = (tx: Tx) =>
    withSavepoint(tx, async (inner) => {
      await insert(inner, 12);
      await inner`select 1 / 0`;
    });
  await pool.use((sql) =>
    begin(sql, async (tx) => {
      await insert(tx, 10);
      await assert.rejects(failing(tx), /division by zero/);
      await withSavepoint(tx, async (inner) => {
        await insert(inner, 11);
        await assert.rejects(failing(inner), /division by zero/);
      });
    }),
  );
  const rows = await superuser<{ half: number }[]>`select half from pairs where half between 10 and 12 order by 1`;
  assert.deepEqual(
    rows.map(({ half }) => half),
    [10, 11],
  );
});

test('connections to an unresponsive database are dropped, and new ones are opened once it responds', async () => {
  const { proxy, url } = await startProxy();
  const pool = openPool(2, url, 200);
  const query = () => pool.use((sql) => sql`select 1`);
  /** Whether two connections respond while both are in use: one alone could serve both queries before the other is open. */
  const bothRespond = () => {
    let inUse = 0;
    let resume = () => {};
    const bothInUse = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const use = () =>
      pool
        .use(async (sql) => {
          await sql`select 1`;
          if (++inUse === 2) resume();
          await bothInUse;
        })
        .finally(resume);
    // A connection that a busy machine does not open in time is dropped too.
    return Promise.all([use(), use()]).then(
      () => true,
      () => false,
    );
  };
  await waitFor('both connections are open', bothRespond);
  proxy.silence();
  for (const outcome of await Promise.allSettled([query(), query()])) {
    assert.ok(outcome.status === 'rejected' && isConnectionLost(errorCode(outcome.reason)), JSON.stringify(outcome));
  }
  await waitFor('the database responds again', bothRespond);
});

test('a connection that is terminated while it is being opened fails at once, and the next one works', async () => {
  const { proxy, url } = await startProxy();
  const connect = connectService('UTC', NO_DEADLINES);
  const hosts = hostsOf({ url });
  const query = async () => {
    const pool = createPool(connect, 1, NO_DEADLINES, hosts);
    const failure = await pool.use((sql) => sql`select 1`).then(() => undefined, errorCode);
    return { pool, failure };
  };
  // The first connection also reads the types of the database.
  await (await query()).pool.close();
  let messages = 0;
  for (; ; messages += scale(3, 1)) {
    proxy.maxMessages = messages;
    const { pool, failure } = await query();
    proxy.maxMessages = Number.POSITIVE_INFINITY;
    if (failure !== undefined) await pool.use((sql) => sql`select 1`);
    await pool.close();
    if (failure === undefined) break;
    assert.ok(failure === '57P01' || isConnectionLost(failure), `${failure} after ${messages} messages`);
  }
  // These are the messages of the authentication, the server's parameters and the statement.
  assert.ok(messages > 15, String(messages));
});

test('a caller that waits for a connection fails when the pool is closed, and no connection is opened for it', async () => {
  const opened: number[] = [];
  const connect = connectService('UTC', NO_DEADLINES);
  const pool = createPool(connect, 1, NO_DEADLINES, hostsOf({ url: superuserUrl }));
  let started = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const holder = pool.use(async (sql) => {
    const [{ pid }] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`;
    opened.push(pid);
    started();
    await sql`select pg_sleep(600)`;
  });
  await running;
  const waiter = pool.use((sql) => sql`select 1`);
  const outcomes = Promise.allSettled([holder, waiter]);
  const closed = pool.close();
  await superuser`select pg_terminate_backend(${opened[0] as number})`;
  const [, outcome] = await outcomes;
  assert.ok(outcome.status === 'rejected' && errorCode(outcome.reason) === 'CONNECTION_ENDED', JSON.stringify(outcome));
  await closed;
  assert.equal(pool.connectionsOpened(), 1);
});

test('the limits of writes follow the size of the pool, and each pool has its own', async () => {
  const limitsOf = (size: number) => {
    const { total, perTenant, perRecord } = createWriteLimits(size, new ActiveTenants());
    return [total, perTenant, perRecord];
  };
  assert.deepEqual([1, 2, 5, 10, 40].map(limitsOf), [
    [1, 1, 1],
    [1, 1, 1],
    [4, 2, 1],
    [8, 4, 2],
    [32, 16, 8],
  ]);
  // A pool whose only slot is taken does not delay the writes of another pool.
  const [small, large] = [openPool(2), openPool(40)];
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = small.writes.run('a', undefined, () => blocked);
  let second = false;
  const queued = small.writes.run('b', undefined, async () => {
    second = true;
  });
  let running = 0;
  const many = Array.from({ length: 16 }, () =>
    large.writes.run('a', undefined, async () => {
      running++;
      await blocked;
    }),
  );
  await waitFor('the large pool runs all writes of one tenant', () => running === 16);
  assert.equal(second, false);
  release();
  await Promise.all([first, queued, ...many]);
  assert.equal(second, true);
});

test('a late failure of a host does not replace the host that others have moved on to', () => {
  const hosts = parseHosts('postgres://user@a,b,c/database');
  const [first, second] = hosts.list;
  assert.ok(first && second);
  for (const failed of [first, second, first]) selectNextHost(hosts, failed);
  assert.equal(hosts.current.name, 'c');
});
