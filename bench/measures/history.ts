import { alternate, type Measure, median } from '../measure.ts';
import { fillTenant } from '../organization.ts';
import { call, makeTenant } from '../services.ts';

const COUNT = 10_000;
/** How often each of them is changed since. */
const TIMES = 10;

/** The whole tree of ten thousand as of a past moment, against that of today: right away, and many changes later. */
export const history: Measure = async (scene) => {
  const { place, service } = scene;
  const { tenantId, token } = await makeTenant(service.base);
  await fillTenant(place.superuser, tenantId, 14_000_000, COUNT, { noted: true });
  const [{ then }] = await place.superuser<[{ then: string }]>`
    select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as then`;
  const read = async (query: string) => (await call(service.base, 'GET', `/system/dept-api/tree${query}`, token)).text;
  const asItWas = await read('');
  const timed = (query: string, isRight: (text: string) => boolean) => async () => {
    const times: number[] = [];
    for (let n = 0; n < 10; n++) {
      const began = performance.now();
      const text = await read(query);
      times.push(performance.now() - began);
      if (!isRight(text)) throw new Error(`${text.length} letters of a tree that is another one`);
    }
    return median(times);
  };
  const compare = async (words: string) => {
    const result = await alternate(
      scene,
      `the tree of the past ${words}`,
      timed(`?asOf=${then}`, (text) => text === asItWas),
      timed('', (text) => text.match(/"hasChildren":/g)?.length === COUNT),
    );
    return {
      what: `Tree of ${COUNT} departments as of a past moment, ${words}`,
      figure: result.ratio,
      unit: '× that of today',
      goal: { most: 5 },
      spread: result.spread,
      notes: `${median(result.ones).toFixed(1)} ms against ${median(result.others).toFixed(1)} ms`,
    };
  };
  const fresh = await compare('with no change since');
  for (let n = 0; n < TIMES; n++) {
    await place.superuser`
      update banyan.departments set leader = ${`李四 ${n}`}, update_by = 'bench', update_time = now()
      where tenant_id = ${tenantId}`;
  }
  return [fresh, await compare(`after ${COUNT * TIMES} changes`)];
};
