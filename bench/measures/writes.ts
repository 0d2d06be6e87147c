import { setTimeout } from 'node:timers/promises';
import postgres from 'postgres';
import { alternate, type Measure, median, type Scene } from '../measure.ts';

const CONNECTIONS = 16;

/**
 * Creates over HTTP against the fastest plain loop of inserts of the same row into the same table: same driver, same
 * number of connections, without row security or the ledger.
 */
export const creates: Measure = async (scene) => {
  const { place } = scene;
  const sql = postgres(place.superuserUrl, {
    ...place.socket,
    max: CONNECTIONS,
    connection: { search_path: 'banyan' },
  });
  try {
    const result = await alternate(
      scene,
      'creates against plain inserts',
      () => createsASecond(scene, { noted: true }),
      () => withoutLedger(scene, () => insertsASecond(scene, sql)),
    );
    return [
      {
        what: `Create of a department, ${CONNECTIONS} connections`,
        figure: result.ratio,
        unit: '× plain inserts',
        goal: { least: 0.5 },
        spread: result.spread,
        notes: `${Math.round(median(result.ones))}/s against ${Math.round(median(result.others))}/s, each one committed to disk`,
      },
    ];
  } finally {
    await sql.end();
  }
};

/** Creates with the ledger against creates without it: its triggers are switched off and on again. */
export const ledger: Measure = async (scene) => {
  const result = await alternate(
    scene,
    'creates with the ledger against without',
    () => createsASecond(scene, { noted: true }),
    () => withoutLedger(scene, () => createsASecond(scene, { noted: false })),
  );
  return [
    {
      what: `Create with the ledger, ${CONNECTIONS} connections`,
      figure: result.ratio,
      unit: '× without it',
      goal: { least: 0.8 },
      spread: result.spread,
      notes: `${Math.round(median(result.ones))}/s against ${Math.round(median(result.others))}/s`,
    },
  ];
};

async function withoutLedger<T>({ place: { superuser } }: Scene, work: () => Promise<T>): Promise<T> {
  await superuser`alter table banyan.departments disable trigger note_new`;
  try {
    return await work();
  } finally {
    await superuser`alter table banyan.departments enable trigger note_new`;
  }
}

/** Over HTTP. Each answer has its row, and each row its change, if it is to be noted. */
async function createsASecond(
  { crowd, service, writing, place: { superuser }, ms }: Scene,
  { noted }: { noted: boolean },
): Promise<number> {
  await allSealed(superuser);
  const { tenantId, token, firstId: parentId } = writing;
  const count = async () => {
    const [found] = await superuser<[{ rows: number; changes: number }]>`
      select
        (select count(*) from banyan.departments where tenant_id = ${tenantId} and parent_id = ${parentId}) as rows,
        (select count(*) from banyan.changes where tenant_id = ${tenantId}) as changes`;
    return found;
  };
  const before = await count();
  const ask = { what: 'create', parentId } as const;
  const { answers, aSecond } = await crowd.call({ base: service.base, token, ask, connections: CONNECTIONS, ms });
  const after = await count();
  const made = after.rows - before.rows;
  const told = after.changes - before.changes;
  if (made !== answers) throw new Error(`${answers} answers for ${made} departments`);
  if (told !== (noted ? answers : 0)) throw new Error(`${told} changes for ${answers} departments`);
  return aSecond;
}

/** The ledger is sealed a moment later: what one run has left shall not fall on the next. */
async function allSealed(superuser: Scene['place']['superuser']): Promise<void> {
  for (;;) {
    const [{ left }] = await superuser<[{ left: boolean }]>`select exists (select from banyan.unsealed) as left`;
    if (!left) return;
    await setTimeout(100);
  }
}

async function insertsASecond({ writing, ms, place }: Scene, sql: postgres.Sql): Promise<number> {
  await allSealed(place.superuser);
  const began = performance.now();
  let done = 0;
  const insert = async () => {
    while (performance.now() - began < ms) {
      await sql`
        insert into departments (tenant_id, parent_id, dept_name, order_num, leader, phone, create_by)
        values (${writing.tenantId}, ${writing.firstId}, 'bench', 1, 'Li', '13800000000', 'bench')
        returning dept_id`;
      done++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, insert));
  return done / ((performance.now() - began) / 1000);
}
