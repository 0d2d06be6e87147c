import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runDemo } from '../../server/cli/demo-command.ts';
import { CHEAP_HASH, connectWithoutDeadline, createDatabase } from '../support/database.ts';
import { PASSWORD } from '../support/service.ts';

/** npm run demo, which fills an empty installation. */

const DAY_MS = 86_400_000;
/** A Thursday, as in demo.long.test.ts, so that the changes are the same on every day. */
const LAST_THURSDAY = new Date(Math.floor(Date.now() / (7 * DAY_MS)) * 7 * DAY_MS);
/** The run ends with an error after this many changes: all of them would take much longer. */
const CHANGES = 300;

test('demonstration data is written with past times, and when an error ends the run, the triggers that set these times are removed', async () => {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  await superuser.unsafe(`
    create function banyan.reject_change() returns trigger language plpgsql as $$ begin raise 'enough'; end $$;
    create trigger reject_change before insert on banyan.changes for each row
      when (new.change_id > ${CHANGES}) execute function banyan.reject_change()`);
  const lines: string[] = [];
  const status = await runDemo([], {
    environment: { DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: PASSWORD },
    passwordCost: CHEAP_HASH,
    now: LAST_THURSDAY,
    print: (line) => void lines.push(line),
  });
  assert.equal(status, 2, lines.join('\n'));
  assert.equal(lines.at(-1), 'The data could not be created: enough.');
  const [counts] = await superuser<[Record<string, number>]>`
    select (select count(*)::int from banyan.tenants where del_flag = '0') as tenants,
      (select count(*)::int from banyan.departments where del_flag = '0') as departments,
      (select count(*)::int from banyan.users where del_flag = '0') as users,
      (select count(distinct date_trunc('month', time))::int from banyan.changes) as months,
      (select count(*)::int from pg_trigger where tgname = 'backdate') as triggers,
      (select count(*)::int from banyan.changes c join banyan.departments d on d.tenant_id = c.tenant_id
         and c.resource = 'department' and c.resource_id = d.dept_id and c.action = 'created'
         where c.time <> d.create_time) as differing`;
  await superuser.end();
  const { triggers, differing, ...grown } = counts;
  assert.deepEqual({ triggers, differing }, { triggers: 0, differing: 0 });
  assert.ok(
    Object.values(grown).every((count) => count > 1),
    JSON.stringify(grown),
  );
});

test('an unknown language or option is an error', async () => {
  const lines: string[] = [];
  const options = { environment: {}, print: (line: string) => void lines.push(line) };
  assert.equal(await runDemo(['--language', 'fr'], options), 1);
  assert.equal(await runDemo(['--size', '7'], options), 1);
  assert.match(lines.join('\n'), /There is no language "fr".*npm run demo -- \[--language zh\|en\]/s);
});
