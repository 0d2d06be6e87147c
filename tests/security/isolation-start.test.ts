import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { readServiceLogin } from '../../db/roles.ts';
import { StartupError } from '../../db/startup-error.ts';
import { after } from '../support/cleanup.ts';
import { connectWithoutDeadline, createDatabase, createEmptyDatabase, NO_DEADLINES } from '../support/database.ts';
import { sample } from '../support/scale.ts';

/** The service starts only with a role that cannot bypass row-level security. */

const { databaseUrl, superuserUrl, name } = await createDatabase();
const superuser = connectWithoutDeadline({ url: superuserUrl });
after(() => superuser.end());

const configFor = (url: string) => ({
  databaseUrl: url,
  dataDir: '',
  timeZone: 'UTC',
  connections: 1,
  timing: NO_DEADLINES,
});
const start = async (url = databaseUrl) => (await openDatabase(configFor(url))).close();
const expectStartupError = (url: string, message: RegExp) =>
  assert.rejects(start(url), (error) => {
    assert.ok(error instanceof StartupError, String(error));
    assert.match(error.message, message);
    return true;
  });

await start();
const { username: role, password } = (await readServiceLogin(superuser)) as { username: string; password: string };

function urlOf(user: string, password: string): string {
  const url = new URL(databaseUrl);
  url.username = user;
  url.password = password;
  return url.href;
}
const serviceUrl = urlOf(role, password);

/** Creates a role for one test and drops it afterwards. */
async function withRole(rights: string, work: (role: string, url: string) => Promise<void>): Promise<void> {
  const role = `role_${name}`;
  await superuser.unsafe(`create role ${role} login password 'secret' ${rights}`);
  try {
    await work(role, urlOf(role, 'secret'));
  } finally {
    await superuser.unsafe(`drop owned by ${role}; drop role ${role}`);
  }
}

test('the service can start with the URL of its own role once the tables are up to date', async () => {
  await start(serviceUrl);
  const db = await openDatabase(configFor(serviceUrl));
  const [{ user }] = await db.use((sql) => sql<[{ user: string }]>`select current_user as user`);
  await db.close();
  assert.equal(user, role);
});

test('the service uses its own role even when DATABASE_URL names the owner', async () => {
  const db = await openDatabase(configFor(databaseUrl));
  const [{ user }] = await db.use((sql) => sql<[{ user: string }]>`select current_user as user`);
  await db.close();
  assert.equal(user, role);
});

const faults: [what: string, fault: string, fix: string, message: RegExp][] = [
  ['has BYPASSRLS', `alter role "${role}" bypassrls`, `alter role "${role}" nobypassrls`, /has BYPASSRLS/],
  ['is a superuser', `alter role "${role}" superuser`, `alter role "${role}" nosuperuser`, /is a superuser/],
  [
    'can become the owner',
    // The owner created the role and is its admin; revoke that first, because memberships cannot be circular.
    `revoke "${role}" from test_owner; grant test_owner to "${role}"`,
    `revoke test_owner from "${role}"; grant "${role}" to test_owner with admin option`,
    /may become its owner/,
  ],
];
for (const [what, fault, fix, message] of faults) {
  test(`the service does not start when its role ${what}`, async () => {
    await superuser.unsafe(fault);
    try {
      await expectStartupError(databaseUrl, message);
      // The same role is checked when DATABASE_URL names it itself, instead of the owner.
      await expectStartupError(serviceUrl, message);
    } finally {
      await superuser.unsafe(fix);
    }
    await start();
  });
}

test('the service does not start when its role owns a table', async () => {
  await superuser.unsafe(`alter table banyan.sessions owner to "${role}"`);
  await expectStartupError(serviceUrl, /owns the table sessions/);
  await expectStartupError(databaseUrl, /owns the table sessions/);
  await superuser.unsafe('alter table banyan.sessions owner to test_owner');
  await start();
});

test('the service does not start when its role can become a role with BYPASSRLS', async () => {
  await withRole('bypassrls', async (bypassing) => {
    await superuser.unsafe(`grant ${bypassing} to "${role}"`);
    await expectStartupError(databaseUrl, /BYPASSRLS|may become/);
  });
  await start();
});

for (const [offset, fault] of ['disable row level security', 'no force row level security'].entries()) {
  test(`the service does not start after alter table … ${fault}`, async () => {
    const tables = await superuser<{ name: string }[]>`
      select relname as name from pg_class where relnamespace = 'banyan'::regnamespace and relrowsecurity order by 1`;
    assert.ok(tables.length >= 6);
    for (const [n, { name }] of sample(tables, 8, offset).entries()) {
      await superuser.unsafe(`alter table banyan.${name} ${fault}`);
      await expectStartupError(databaseUrl, new RegExp(`Row-level security is not forced on ${name}:`));
      // Both URLs lead to the same check, so one table is enough here.
      if (n === 0) await expectStartupError(serviceUrl, new RegExp(name));
      await superuser.unsafe(`alter table banyan.${name} enable row level security, force row level security`);
    }
    await start();
  });
}

test('a role that owns nothing cannot start the service on older tables', async () => {
  const rows = await superuser`delete from banyan.migrations returning *`;
  await expectStartupError(serviceUrl, /older than this version.*owner/s);
  await superuser`insert into banyan.migrations ${superuser(rows)}`;
  await start(serviceUrl);
});

test('a role without any privileges cannot start the service', async () => {
  await withRole('', async (_, url) => expectStartupError(url, /can't be used|may not/));
});

test('a role that cannot prepare an empty database gets an error with the missing privilege', async () => {
  const empty = await createEmptyDatabase();
  const at = (url: string) => url.replace(`/${name}?`, `/${empty.name}?`);
  await withRole('', async (role, url) => {
    await expectStartupError(at(url), /grant create on database/);
    const emptyDatabase = connectWithoutDeadline({ url: empty.superuserUrl });
    await emptyDatabase.unsafe(`grant create on database ${empty.name} to ${role}`);
    await expectStartupError(at(url), /createrole/);
    await emptyDatabase.unsafe(`drop owned by ${role}`);
    await emptyDatabase.end();
  });
});

test('a superuser can prepare the tables, but the service does not run as superuser', async () => {
  const fresh = await createEmptyDatabase();
  const db = await openDatabase(configFor(fresh.superuserUrl));
  const [row] = await db.use(
    (sql) => sql`
      select rolsuper, rolbypassrls from pg_roles where rolname = current_user`,
  );
  await db.close();
  assert.deepEqual({ ...row }, { rolsuper: false, rolbypassrls: false });
});

test('a DATABASE_URL with a wrong password or database gives a clear error', async () => {
  await expectStartupError(urlOf('test_owner', 'wrong password'), /DATABASE_URL can't be used.*Check/);
  await expectStartupError(databaseUrl.replace(name, 'no_such_database'), /DATABASE_URL can't be used.*Check/);
});
