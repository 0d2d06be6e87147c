import { setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { alternate, type Context, type Measure, median } from '../measure.ts';

const CONNECTIONS = 16;

/**
 * Compares creates over HTTP with a plain loop of inserts of the same row into the same table: the same driver and number
 * of connections, but without row-level security or the ledger.
 */
export const creates: Measure = async (context) => {
  const { database } = context;
  const sql = postgres(database.superuserUrl, {
    ...database.socket,
    max: CONNECTIONS,
    connection: { search_path: 'banyan' },
  });
  try {
    const result = await alternate(
      context,
      'creates against plain inserts',
      () => createsPerSecond(context, { withLedger: true }),
      () => withoutLedger(context, () => insertsPerSecond(context, sql)),
    );
    return [
      {
        name: `Create of a department, ${CONNECTIONS} connections`,
        figure: result.ratio,
        unit: '× plain inserts',
        goal: { least: 0.5 },
        range: result.range,
        notes: `${Math.round(median(result.first))}/s against ${Math.round(median(result.second))}/s, each one committed to disk`,
      },
    ];
  } finally {
    await sql.end();
  }
};

/** Compares creates with and without the ledger, whose triggers are disabled temporarily. */
export const ledger: Measure = async (context) => {
  const result = await alternate(
    context,
    'creates with the ledger against without',
    () => createsPerSecond(context, { withLedger: true }),
    () => withoutLedger(context, () => createsPerSecond(context, { withLedger: false })),
  );
  return [
    {
      name: `Create with the ledger, ${CONNECTIONS} connections`,
      figure: result.ratio,
      unit: '× without it',
      goal: { least: 0.8 },
      range: result.range,
      notes: `${Math.round(median(result.first))}/s against ${Math.round(median(result.second))}/s`,
    },
  ];
};

async function withoutLedger<T>({ database: { superuser } }: Context, work: () => Promise<T>): Promise<T> {
  await superuser`alter table banyan.departments disable trigger record_inserts`;
  try {
    return await work();
  } finally {
    await superuser`alter table banyan.departments enable trigger record_inserts`;
  }
}

/** Runs creates over HTTP. Checks that each response has its row, and each row its change if the ledger is enabled. */
export async function createsPerSecond(
  { load, service, writing, database: { superuser }, ms }: Context,
  { withLedger }: { withLedger: boolean },
): Promise<number> {
  await waitUntilSealed(superuser);
  const { tenantId, token, firstId: parentId } = writing;
  const countRows = async () => {
    const [counts] = await superuser<[{ rows: number; changes: number }]>`
      select
        (select count(*) from banyan.departments where tenant_id = ${tenantId} and parent_id = ${parentId}) as rows,
        (select count(*) from banyan.changes where tenant_id = ${tenantId}) as changes`;
    return counts;
  };
  const before = await countRows();
  const request = { type: 'create', parentId } as const;
  const { responses, perSecond } = await load.run({ base: service.base, token, request, connections: CONNECTIONS, ms });
  const after = await countRows();
  const rows = after.rows - before.rows;
  const changes = after.changes - before.changes;
  if (rows !== responses) throw new Error(`${responses} responses for ${rows} departments`);
  if (changes !== (withLedger ? responses : 0)) throw new Error(`${changes} changes for ${responses} departments`);
  return perSecond;
}

/** Waits until the ledger is sealed, so that the sealing of one run does not slow down the next. */
export async function waitUntilSealed(superuser: Context['database']['superuser']): Promise<void> {
  for (;;) {
    const [{ unsealed }] = await superuser<
      [{ unsealed: boolean }]
    >`select exists (select from banyan.unsealed_changes) as unsealed`;
    if (!unsealed) return;
    await setTimeout(100);
  }
}

async function insertsPerSecond({ writing, ms, database }: Context, sql: postgres.Sql): Promise<number> {
  await waitUntilSealed(database.superuser);
  const startedAt = performance.now();
  let done = 0;
  const insert = async () => {
    while (performance.now() - startedAt < ms) {
      await sql`
        insert into departments (tenant_id, parent_id, dept_name, order_num, leader, phone, create_by)
        values (${writing.tenantId}, ${writing.firstId}, 'bench', 1, 'Li', '13800000000', 'bench')
        returning dept_id`;
      done++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, insert));
  return done / ((performance.now() - startedAt) / 1000);
}
