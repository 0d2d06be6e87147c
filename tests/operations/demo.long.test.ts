// Only with test:long: it fills two installations with a year of changes; demo.test.ts makes the first three hundred changes of one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runDemo } from '../../server/cli/demo-command.ts';
import { verifyLedger } from '../../server/ledger/verify.ts';
import { afterFile } from '../support/cleanup.ts';
import { CHEAP_HASH, connectWithoutDeadline } from '../support/database.ts';
import { startOnDatabase } from '../support/process.ts';
import { Client, createEmptyDatabase, PASSWORD } from '../support/service.ts';

/** npm run demo, which fills an empty installation. */

const DAY_MS = 86_400_000;
/**
 * Events on a weekend are moved to the Friday before. A history that ends on a Thursday is the hardest case: the newest tenant is
 * created on such a Friday, and no event may move to a time before its departments and employees exist.
 */
const LAST_THURSDAY = new Date(Math.floor(Date.now() / (7 * DAY_MS)) * 7 * DAY_MS);

async function fill(language: 'zh' | 'en', databaseUrl: string) {
  const lines: string[] = [];
  const status = await runDemo(['--language', language], {
    environment: { DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: PASSWORD },
    print: (line) => void lines.push(line),
    passwordCost: CHEAP_HASH,
    now: LAST_THURSDAY,
  });
  const output = lines.join('\n');
  const logins = [...output.matchAll(/^ +Tenant (\d+) +User (\S+)/gm)].map(([, tenantId, username]) => ({
    tenantId: String(tenantId),
    username: String(username),
  }));
  return { status, output, logins, password: /^ +Password +(\S+)/m.exec(output)?.[1] ?? '' };
}

for (const language of ['zh', 'en'] as const) {
  test(`the demonstration data (${language}) has a year of history and an intact ledger, and users of active tenants can log in`, async () => {
    const { databaseUrl, superuserUrl } = await createEmptyDatabase();
    const superuser = connectWithoutDeadline({ url: superuserUrl });
    afterFile(() => superuser.end());
    // Two runs start at the same moment: one of them is rejected.
    const runs = await Promise.all([fill(language, databaseUrl), fill(language, databaseUrl)]);
    const { logins, output, password } = runs.find(({ status }) => status === 0) ?? assert.fail(runs[0]?.output);
    const other = runs.find(({ status }) => status !== 0) ?? assert.fail('both have filled the installation');
    assert.equal(other.status, 2);
    assert.match(other.output, /The installation is not empty|This database is already being filled/);

    const [counts = {}] = await superuser<Record<string, number>[]>`
      select (select count(*)::int from banyan.tenants where del_flag = '0') as tenants,
        (select count(*)::int from banyan.departments where del_flag = '0') as departments,
        (select count(*)::int from banyan.departments where del_flag <> '0') as removed,
        (select count(*)::int from banyan.users where del_flag = '0') as users,
        (select count(*)::int from banyan.departments where leader_id is not null) as "departmentsWithLeader",
        (select count(*)::int from banyan.users u where del_flag = '0' and position in ('部门经理', 'Department Manager')
           and not exists (select from banyan.departments d where d.tenant_id = u.tenant_id and d.leader_id = u.user_id))
           as "managersWithoutDepartment",
        (select count(distinct date_trunc('month', time))::int from banyan.changes) as months,
        (select count(distinct date_trunc('month', create_time))::int from banyan.departments) as creations,
        (select count(*)::int from banyan.quota_uses) as uses,
        (select count(*)::int from banyan.notices) as notices,
        (select count(distinct tenant_id)::int from banyan.quota_counters where used > 0) as "tenantsWithUsedQuotas",
        (select count(*)::int from banyan.changes where time > now()) as future,
        (select count(*)::int from pg_trigger where tgname = 'backdate') as triggers,
        (select count(*)::int from banyan.unsealed_changes) as unsealed,
        (select count(*)::int from banyan.changes c join banyan.departments d on d.tenant_id = c.tenant_id
           and c.resource = 'department' and c.resource_id = d.dept_id and c.action = 'created'
           where c.time <> d.create_time) as differing`;
    const { departmentsWithLeader, months, creations, uses, notices, removed, ...exact } = counts;
    assert.deepEqual(exact, {
      ...{ tenants: 13, departments: 300, users: 501, tenantsWithUsedQuotas: 6 },
      ...{ future: 0, triggers: 0, unsealed: 0, differing: 0, managersWithoutDepartment: 0 },
    });
    assert.ok(Number(months) >= 12 && Number(creations) >= 10, `${months} months, ${creations} with new departments`);
    assert.ok(
      Number(departmentsWithLeader) > 150 && Number(uses) > 500 && Number(notices) > 5 && Number(removed) > 5,
      JSON.stringify(counts),
    );
    const owner = connectWithoutDeadline({ url: databaseUrl });
    afterFile(() => owner.end());
    assert.deepEqual((await verifyLedger(owner)).errors, []);

    const run = startOnDatabase(databaseUrl);
    const { base } = await run.ready();
    const results: string[] = [];
    for (const { tenantId, username } of logins) {
      const { code, data } = await new Client(base).post('/auth/login', { tenantId, username, password });
      results.push(data?.access_token ? 'in' : String(code));
      if (tenantId !== '000000') continue;
      const client = new Client(base, data.access_token);
      const halfYear = new Date(Date.now() - 182 * DAY_MS).toISOString();
      const past = (await client.get(`/system/dept-api/list?asOf=${halfYear}&pageSize=1`)).data.total;
      const { total: today, rows } = (await client.get('/system/dept-api/list?pageSize=1')).data;
      assert.ok(past > 20 && past < today, `${past} departments half a year ago, ${today} today`);
      assert.equal(/\p{Script=Han}/u.test(rows[0].deptName), language === 'zh');
    }
    // Three tenants are disabled, have expired or have not started yet.
    assert.equal(results.length, 13, output);
    assert.equal(results.filter((result) => result === 'in').length, 10, results.join());
    assert.equal(await run.stop(), 0, run.stderr);
  });
}
