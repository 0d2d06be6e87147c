import { generateKey, hashKey, shownPrefix } from '../../server/auth/key-format.ts';
import { alternate, type Context, type Measure, median, type Result } from '../measure.ts';
import { call, createTenant, logIn } from '../services.ts';

const CONNECTIONS = 64;
const QUOTA = 'calls';
const TENANTS = 1_000;
/** How many users share the earlier uses of a counter. */
const USERS = 20;
/** How many earlier uses a counter has. A smaller number is enough to try the measure. */
const USES = Number(process.env.BANYAN_BENCH_USES ?? 10_000_000);

interface Caller {
  tenantId: string;
  token: string;
}

/** Creates a tenant with an unlimited quota. */
async function createCaller({ service: { base } }: Context): Promise<Caller> {
  const tenant = await createTenant(base);
  const root = await logIn(base, '000000', 'admin');
  await call(base, 'PUT', `/system/quota-api/${QUOTA}?tenantId=${tenant.tenantId}`, root, { total: -1 });
  return tenant;
}

const countUses = async ({ database: { superuser } }: Context): Promise<{ used: number; last: number }> => {
  const [row] = await superuser<[{ used: number; last: number }]>`
    select coalesce(sum(used), 0)::float8 as used, (select last_value - (not is_called)::int from banyan.quota_use_serial)::float8 as last
    from banyan.quota_counters where quota = ${QUOTA}`;
  return row;
};

/** Uses the quota over HTTP. Checks that each response was counted once and has its own row in the uses. */
async function usesPerSecond(context: Context, tokens: string[], keyed = false): Promise<number> {
  const { load, service, ms, database } = context;
  const before = await countUses(context);
  const request = { type: 'consume', quota: QUOTA, keyed } as const;
  const { responses, perSecond } = await load.run({
    base: service.base,
    tokens,
    request,
    connections: CONNECTIONS,
    ms,
  });
  const { used } = await countUses(context);
  if (used - before.used !== responses)
    throw new Error(`${responses} responses, but ${used - before.used} were counted`);
  const [{ rows }] = await database.superuser<[{ rows: number }]>`
    select count(*) as rows from banyan.quota_uses where use_id > ${before.last} and quota = ${QUOTA}`;
  if (rows !== responses) throw new Error(`${responses} responses, but ${rows} uses`);
  return perSecond;
}

async function createsPerSecond({ load, service: { base }, writing, ms }: Context): Promise<number> {
  const request = { type: 'create', parentId: writing.firstId } as const;
  return (await load.run({ base, token: writing.token, request, connections: CONNECTIONS, ms })).perSecond;
}

type Compared = Awaited<ReturnType<typeof alternate>>;
const notes = ({ first, second }: Compared) => `${Math.round(median(first))}/s against ${Math.round(median(second))}/s`;

/** Compares uses of one counter with creates of departments. */
export const quotaHot: Measure = async (context) => {
  const { token } = await createCaller(context);
  const result = await alternate(
    context,
    'uses of one counter against creates',
    () => usesPerSecond(context, [token]),
    () => createsPerSecond(context),
  );
  const name = `Use of one quota, ${CONNECTIONS} connections`;
  return [
    { name, figure: result.ratio, unit: '× creates', goal: { least: 0.5 }, range: result.range, notes: notes(result) },
  ];
};

/** Compares uses with an Idempotency-Key, as the client sends them, with uses without. */
export const quotaKeys: Measure = async (context) => {
  const { token } = await createCaller(context);
  const result = await alternate(
    context,
    'uses of one counter with an Idempotency-Key against uses without',
    () => usesPerSecond(context, [token], true),
    () => usesPerSecond(context, [token]),
  );
  const name = `Use of one quota with an Idempotency-Key, ${CONNECTIONS} connections`;
  return [
    { name, figure: result.ratio, unit: '× without', goal: { least: 0.5 }, range: result.range, notes: notes(result) },
  ];
};

/** Compares uses of the counters of many tenants with creates in one tenant. Creates share transactions, these uses rarely do. */
export const quotaSpread: Measure = async (context) => {
  const { progress } = context;
  progress(`creating ${TENANTS} tenants with an API key`);
  const tokens = await insertTenants(context);
  const result = await alternate(
    context,
    `uses of the counters of ${TENANTS} tenants against creates`,
    () => usesPerSecond(context, tokens),
    () => createsPerSecond(context),
  );
  const name = `Use of the quotas of ${TENANTS} tenants, ${CONNECTIONS} connections`;
  return [
    { name, figure: result.ratio, unit: '× creates', goal: { least: 0.1 }, range: result.range, notes: notes(result) },
  ];
};

/** Inserts tenants into the database, each with a quota and an API key, and returns the keys. */
async function insertTenants({ database: { superuser } }: Context): Promise<string[]> {
  const tenants = Array.from({ length: TENANTS }, (_, n) => ({ n: 20_000_000 + n, key: generateKey() }));
  const sent = tenants.map(({ n, key }) => ({
    n,
    prefix: shownPrefix(key),
    hash: hashKey(key).toString('hex'),
  }));
  // Skip the ledger's triggers: nothing reads the history of these tenants.
  await superuser`set session_replication_role = replica`;
  await superuser`
    insert into banyan.tenants (tenant_id, id, parent_id, path, tenant_name, quotas, rules, create_by)
    select n::text, n, '000000', array['000000', n::text], 'tenant ' || n, '{}', '{}', 'bench'
    from json_to_recordset(${JSON.stringify(sent)}::text::json) as s (n int)`;
  await superuser`
    insert into banyan.api_keys (tenant_id, key_id, key_name, prefix, permissions, below, status, create_by)
    select n::text, n, 'bench', prefix, array['quota:use'], false, '0', 'bench'
    from json_to_recordset(${JSON.stringify(sent)}::text::json) as s (n int, prefix text)`;
  await superuser`
    insert into banyan.api_key_secrets (tenant_id, key_id, secret_id, hash)
    select n::text, n, n, decode(hash, 'hex')
    from json_to_recordset(${JSON.stringify(sent)}::text::json) as s (n int, hash text)`;
  await superuser`
    insert into banyan.quotas (tenant_id, quota, total, period, pooled, create_by)
    select n::text, ${QUOTA}, -1, 'none', false, 'bench'
    from json_to_recordset(${JSON.stringify(sent)}::text::json) as s (n int)`;
  await superuser`reset session_replication_role`;
  return tenants.map(({ key }) => key);
}

/** Compares uses of a counter that has many earlier uses with uses of a new one. */
export const quotaHistory: Measure = async (context) => {
  const { progress, database } = context;
  const [old, fresh] = [await createCaller(context), await createCaller(context)];
  progress(`inserting ${USES} uses`);
  await database.superuser`
    insert into banyan.quota_uses (tenant_id, use_id, quota, amount, time, day, user_id, actor_tenant_id, counted)
    select ${old.tenantId}, nextval('banyan.quota_use_serial'), ${QUOTA}, 1, t.time, t.time::date, 1 + t.n % ${USERS}::int,
      ${old.tenantId}, jsonb_build_object(${old.tenantId}::text, 0)
    from (select n, now() - (${USES} - n) * interval '1 second' as time from generate_series(1, ${USES}::int) n) t`;
  await database.superuser`
    insert into banyan.quota_sums (tenant_id, quota, day, counted_by, amount, uses)
    select tenant_id, quota, day, array[tenant_id], sum(amount), count(*) from banyan.quota_uses
    where tenant_id = ${old.tenantId} group by 1, 2, 3`;
  await database.superuser`
    insert into banyan.quota_caller_sums (tenant_id, quota, day, user_id, key_id, dept_id, actor_tenant_id, amount, uses)
    select tenant_id, quota, day, user_id, 0, 0, tenant_id, sum(amount), count(*) from banyan.quota_uses
    where tenant_id = ${old.tenantId} group by 1, 2, 3, 4`;
  await database.superuser`vacuum analyze banyan.quota_uses, banyan.quota_sums, banyan.quota_caller_sums`;
  const sums = await measureSums(context, old);
  const result = await alternate(
    context,
    `uses after ${USES} earlier uses against a new counter`,
    () => usesPerSecond(context, [old.token]),
    () => usesPerSecond(context, [fresh.token]),
  );
  const name = `Use of a quota with ${USES} earlier uses`;
  return [
    { name, figure: result.ratio, unit: '× without', goal: { least: 0.9 }, range: result.range, notes: notes(result) },
    sums,
  ];
};

/** Times the sums of all earlier uses of a quota, by month and user. Checks that they count every use. */
async function measureSums({ service: { base }, progress }: Context, { token }: Caller): Promise<Result> {
  progress(`sums of ${USES} uses`);
  const times: number[] = [];
  for (let n = 0; n < 20; n++) {
    const start = performance.now();
    const { data } = await call(base, 'GET', `/system/quota-api/usage?quota=${QUOTA}&per=month&by=user`, token);
    times.push(performance.now() - start);
    const counted = data.reduce((sum: number, { uses }: { uses: number }) => sum + uses, 0);
    if (counted !== USES) throw new Error(`The sums have ${counted} uses instead of ${USES}`);
  }
  return {
    name: `Sums of ${USES} uses by month and user`,
    figure: median(times),
    unit: 'ms',
    goal: { most: 100 },
    range: [Math.min(...times), Math.max(...times)],
    notes: `${USERS} users, over HTTP`,
  };
}
