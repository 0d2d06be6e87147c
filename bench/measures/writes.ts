import postgres from 'postgres';
import { alternate, type Measure, median, type Scene } from '../measure.ts';

const CONNECTIONS = 16;

/** Creates over HTTP against the plainest loop of inserts of the same row: same driver, same number of connections. */
export const creates: Measure = async (scene) => {
  const { crowd, service, writing, place, ms } = scene;
  const sql = postgres(place.superuserUrl, {
    ...place.socket,
    max: CONNECTIONS,
    connection: { search_path: 'banyan' },
  });
  try {
    const result = await alternate(
      scene,
      'creates against plain inserts',
      async () => {
        const ask = { what: 'create', parentId: writing.firstId } as const;
        const order = { base: service.base, token: writing.token, ask, connections: CONNECTIONS, ms };
        return (await crowd.call(order)).aSecond;
      },
      () => insertsASecond(scene, sql),
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
  const { crowd, service, writing, place, ms } = scene;
  const creates = async () => {
    const ask = { what: 'create', parentId: writing.firstId } as const;
    return (await crowd.call({ base: service.base, token: writing.token, ask, connections: CONNECTIONS, ms })).aSecond;
  };
  const without = async () => {
    await place.superuser`alter table banyan.departments disable trigger note_new`;
    try {
      return await creates();
    } finally {
      await place.superuser`alter table banyan.departments enable trigger note_new`;
    }
  };
  const result = await alternate(scene, 'creates with the ledger against without', creates, without);
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

async function insertsASecond({ writing, ms }: Scene, sql: postgres.Sql): Promise<number> {
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
