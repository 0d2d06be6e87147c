import { alternate, type Measure, median } from '../measure.ts';
import { fillTenant } from '../organization.ts';
import { call, createTenant } from '../services.ts';

const COUNT = 10_000;
/** How many times each department is changed. */
const CHANGES_EACH = 10;

/** Compares a tree of ten thousand departments at an earlier time with the current tree, without and with later changes. */
export const history: Measure = async (context) => {
  const { database, service } = context;
  const { tenantId, token } = await createTenant(service.base);
  await fillTenant(database.superuser, tenantId, 14_000_000, COUNT, { withLedger: true });
  const [{ asOf }] = await database.superuser<[{ asOf: string }]>`
    select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "asOf"`;
  const read = async (query: string) => (await call(service.base, 'GET', `/system/dept-api/tree${query}`, token)).text;
  const expected = await read('');
  const timed = (query: string, isCorrect: (text: string) => boolean) => async () => {
    const times: number[] = [];
    for (let n = 0; n < 10; n++) {
      const startedAt = performance.now();
      const text = await read(query);
      times.push(performance.now() - startedAt);
      if (!isCorrect(text)) throw new Error(`the tree is wrong (${text.length} characters)`);
    }
    return median(times);
  };
  const compare = async (condition: string) => {
    const result = await alternate(
      context,
      `the tree at an earlier time, ${condition}`,
      timed(`?asOf=${asOf}`, (text) => text === expected),
      timed('', (text) => text.match(/"hasChildren":/g)?.length === COUNT),
    );
    return {
      name: `Tree of ${COUNT} departments at an earlier time, ${condition}`,
      figure: result.ratio,
      unit: '× the current tree',
      goal: { most: 5 },
      range: result.range,
      notes: `${median(result.first).toFixed(1)} ms against ${median(result.second).toFixed(1)} ms`,
    };
  };
  const unchanged = await compare('with no change since');
  for (let n = 0; n < CHANGES_EACH; n++) {
    await database.superuser`
      update banyan.departments set leader = ${`李四 ${n}`}, update_by = 'bench', update_time = now()
      where tenant_id = ${tenantId}`;
  }
  return [unchanged, await compare(`after ${COUNT * CHANGES_EACH} changes`)];
};
