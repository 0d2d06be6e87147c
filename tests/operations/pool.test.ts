import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePool } from '../../db/pool.ts';
import {
  attempt,
  begin,
  codeOf,
  commitWith,
  connectOwner,
  connectService,
  isLost,
  type Sql,
  type Tx,
} from '../../db/sql.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { scale } from '../support/scale.ts';
import { createEmptyDatabase } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { Wire } from '../support/wire.ts';

/** The service's connections to its database, in the moments in which they break. */

const { superuserUrl } = await createEmptyDatabase();
const superuser = connectOwner({ url: superuserUrl });
after(() => superuser.end());
await superuser`create schema banyan`;
await superuser`create table pairs (pair uuid, half int)`;

function poolOf(most: number, url = superuserUrl, checkMs = NO_DEADLINES.checkMs) {
  const pool = makePool(connectService({ url }, 'UTC', NO_DEADLINES), most, { ...NO_DEADLINES, checkMs });
  after(() => pool.close());
  return pool;
}

const insertPair = (sql: Sql) =>
  begin(sql, async (tx) => {
    const [{ pair }] = await tx<[{ pair: string }]>`insert into pairs values (gen_random_uuid(), 1) returning pair`;
    await tx`insert into pairs values (${pair}, 2)`;
  });
const insertPairAtLast = (sql: Sql) =>
  begin(sql, async (tx) => {
    const [{ pair }] = await tx<[{ pair: string }]>`select gen_random_uuid() as pair`;
    await commitWith(tx, () =>
      Promise.all([tx`insert into pairs values (${pair}, 1)`, tx`insert into pairs values (${pair}, 2)`]),
    );
  });
const halves = async () =>
  superuser`select pair from pairs group by pair having count(*) <> 2 or count(distinct half) <> 2`;
const endAll = () => superuser`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

test('connections that are cut all at once, in any moment: all who used one are told, and the others go on', async () => {
  const pool = poolOf(8);
  await pool.use((sql) => sql`select 1`);
  const outcomes = { done: 0, lost: 0 };
  let over = false;
  const writer = async () => {
    while (!over) {
      try {
        await pool.use((outcomes.done + outcomes.lost) % 2 ? insertPair : insertPairAtLast);
        outcomes.done++;
      } catch (error) {
        assert.ok(isLost(codeOf(error)) || (error as { severity?: string }).severity === 'FATAL', String(error));
        outcomes.lost++;
      }
    }
  };
  // More than there are connections: as one is lost, somebody takes the next, which is about to be lost too.
  const writers = Promise.all(Array.from({ length: 24 }, writer));
  const rounds = scale(10, 100);
  for (let round = 0; round < rounds; round++) {
    const before = outcomes.done;
    await endAll();
    await waitFor(`round ${round} goes on`, () => outcomes.done >= before + 20);
  }
  over = true;
  await writers;
  assert.ok(outcomes.lost >= rounds, JSON.stringify(outcomes));
  assert.deepEqual([...(await halves())], []);
  const [{ count }] = await superuser<[{ count: number }]>`select count(*) from pairs`;
  // One whose commit was done and whose answer was lost counts as lost.
  assert.ok(count >= 2 * outcomes.done && count <= 2 * (outcomes.done + outcomes.lost), `${count}`);
});

test('the commit that goes with the last statements: nothing of them stays when one fails, and nothing follows it', async () => {
  const pool = poolOf(1);
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
  const kept = await pool.use((sql) => sql`delete from pairs where pair = ${pair} returning half`);
  assert.deepEqual([...kept], [{ half: 5 }]);
});

test('a connection that was lost while nobody used it is not lent again', async () => {
  let isLost = false;
  const connect = connectService({ url: superuserUrl }, 'UTC', NO_DEADLINES);
  const watched: typeof connect = (watch) =>
    connect({
      ...watch,
      lost() {
        watch?.lost?.();
        isLost = true;
      },
    });
  const pool = makePool(watched, 1, NO_DEADLINES);
  after(() => pool.close());
  const pidOfIt = async () => {
    const [{ pid }] = await pool.use((sql) => sql<[{ pid: number }]>`select pg_backend_pid() as pid`);
    return pid;
  };
  const before = await pidOfIt();
  await superuser`select pg_terminate_backend(${before})`;
  await waitFor('the pool knows', () => isLost);
  assert.notEqual(await pidOfIt(), before);
});

test('who waits for a connection gets one, in his order, and never more are open than allowed', async () => {
  const pool = poolOf(2);
  const order: number[] = [];
  let [open, most] = [0, 0];
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      pool.use(async (sql) => {
        order.push(n);
        most = Math.max(most, ++open);
        await sql`select 1`;
        open--;
      }),
    ),
  );
  assert.equal(most, 2);
  assert.deepEqual(
    order,
    Array.from({ length: 20 }, (_, n) => n),
  );
});

test('what a failed transaction left running does not go on in the next one', async () => {
  const pool = poolOf(1);
  let late: Promise<unknown> = Promise.resolve();
  let goOn = () => {};
  const next = new Promise<void>((resolve) => {
    goOn = resolve;
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
      goOn();
      await assert.rejects(late, /The transaction is over/);
    }),
  );
  assert.equal((await superuser`select from pairs where half = 7`).length, 0);
});

test('a failed statement that was passed over is not taken for a commit', async () => {
  const pool = poolOf(1);
  const work = (sql: Sql) =>
    begin(sql, async (tx) => {
      await tx`insert into pairs values (gen_random_uuid(), 8)`;
      await tx`select 1 / 0`.catch(() => {});
    });
  await assert.rejects(pool.use(work), /ended with ROLLBACK/);
  assert.equal((await superuser`select from pairs where half = 8`).length, 0);
});

test('an attempt that fails is undone alone, within another too', async () => {
  const pool = poolOf(1);
  const insert = (tx: Tx, half: number) => tx`insert into pairs values (gen_random_uuid(), ${half})`;
  const failing = (tx: Tx) =>
    attempt(tx, async (inner) => {
      await insert(inner, 12);
      await inner`select 1 / 0`;
    });
  await pool.use((sql) =>
    begin(sql, async (tx) => {
      await insert(tx, 10);
      await assert.rejects(failing(tx), /division by zero/);
      await attempt(tx, async (inner) => {
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

test('a database that falls silent is given up, and found again where it answers', async () => {
  const address = new URL(superuserUrl);
  const wire = new Wire(`${address.searchParams.get('host')}/.s.PGSQL.5432`);
  address.searchParams.delete('host');
  address.port = String(await wire.listen());
  const pool = poolOf(2, address.href, 200);
  const ask = () => pool.use((sql) => sql`select 1`);
  // A connection that this machine does not open within five checks is given up, too.
  const answers = () =>
    Promise.all([ask(), ask()]).then(
      () => true,
      () => false,
    );
  await waitFor('both connections are open', answers);
  wire.silence();
  for (const outcome of await Promise.allSettled([ask(), ask()])) {
    assert.ok(outcome.status === 'rejected' && isLost(codeOf(outcome.reason)), JSON.stringify(outcome));
  }
  await waitFor('it is found again', answers);
});
