import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { readServiceLogin } from '../../db/roles.ts';
import { connectOwner } from '../../db/sql.ts';
import { StartRefused } from '../../db/start-refused.ts';
import { createDatabase, createEmptyDatabase, NO_DEADLINES } from '../support/database.ts';

/** Row security binds only who cannot step around it: the service starts as nobody else. */

const { databaseUrl, superuserUrl, name } = await createDatabase();
const superuser = connectOwner({ url: superuserUrl });
after(() => superuser.end());

const place = (url: string) => ({
  databaseUrl: url,
  dataDir: '',
  timeZone: 'UTC',
  connections: 1,
  timing: NO_DEADLINES,
});
const start = async (url = databaseUrl) => (await openDatabase(place(url))).close();
const refuses = (url: string, sentence: RegExp) =>
  assert.rejects(start(url), (error) => {
    assert.ok(error instanceof StartRefused, String(error));
    assert.match(error.message, sentence);
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

/** A role for one test, gone after it. */
async function withRole(rights: string, work: (role: string, url: string) => Promise<void>): Promise<void> {
  const made = `role_${name}`;
  await superuser.unsafe(`create role ${made} login password 'secret' ${rights}`);
  try {
    await work(made, urlOf(made, 'secret'));
  } finally {
    await superuser.unsafe(`drop owned by ${made}; drop role ${made}`);
  }
}

test("the service's own DATABASE_URL is enough once the tables are up to date", async () => {
  await start(serviceUrl);
  const db = await openDatabase(place(serviceUrl));
  const [{ user }] = await db.use((sql) => sql<[{ user: string }]>`select current_user as user`);
  await db.close();
  assert.equal(user, role);
});

test("with the owner's DATABASE_URL the service still works as its own role", async () => {
  const db = await openDatabase(place(databaseUrl));
  const [{ user }] = await db.use((sql) => sql<[{ user: string }]>`select current_user as user`);
  await db.close();
  assert.equal(user, role);
});

const faults: [what: string, fault: string, mend: string, sentence: RegExp][] = [
  ['has BYPASSRLS', `alter role "${role}" bypassrls`, `alter role "${role}" nobypassrls`, /has BYPASSRLS/],
  ['is a superuser', `alter role "${role}" superuser`, `alter role "${role}" nosuperuser`, /is a superuser/],
  [
    'may become the owner',
    // The owner made the role and so administers it; membership cannot go round in a circle.
    `revoke "${role}" from test_owner; grant test_owner to "${role}"`,
    `revoke test_owner from "${role}"; grant "${role}" to test_owner with admin option`,
    /may become its owner/,
  ],
];
for (const [what, fault, mend, sentence] of faults) {
  test(`no start when the service's role ${what}`, async () => {
    await superuser.unsafe(fault);
    try {
      await refuses(databaseUrl, sentence);
      // A superuser's or the owner's own address prepares the tables; the service's role is what counts.
      await refuses(serviceUrl, sentence);
    } finally {
      await superuser.unsafe(mend);
    }
    await start();
  });
}

test("no start when the service's role owns a table", async () => {
  await superuser.unsafe(`alter table banyan.sessions owner to "${role}"`);
  await refuses(serviceUrl, /owns the table sessions/);
  await refuses(databaseUrl, /owns the table sessions/);
  await superuser.unsafe('alter table banyan.sessions owner to test_owner');
  await start();
});

test("no start when the service's role may become one that row security doesn't bind", async () => {
  await withRole('bypassrls', async (mighty) => {
    await superuser.unsafe(`grant ${mighty} to "${role}"`);
    await refuses(databaseUrl, /BYPASSRLS|may become/);
  });
  await start();
});

for (const fault of ['disable row level security', 'no force row level security']) {
  test(`no start after: alter table … ${fault}`, async () => {
    const tables = await superuser<{ name: string }[]>`
      select relname as name from pg_class where relnamespace = 'banyan'::regnamespace and relrowsecurity order by 1`;
    assert.ok(tables.length >= 6);
    for (const [n, { name }] of tables.entries()) {
      await superuser.unsafe(`alter table banyan.${name} ${fault}`);
      await refuses(databaseUrl, new RegExp(`Row security is not forced on ${name}:`));
      // Both addresses lead to the same check of all tables.
      if (n === 0) await refuses(serviceUrl, new RegExp(name));
      await superuser.unsafe(`alter table banyan.${name} enable row level security, force row level security`);
    }
    await start();
  });
}

test('older tables are refused to a role that owns nothing', async () => {
  const rows = await superuser`delete from banyan.migrations returning *`;
  await refuses(serviceUrl, /older than this version.*owner/s);
  await superuser`insert into banyan.migrations ${superuser(rows)}`;
  await start(serviceUrl);
});

test('a role without rights of any kind is refused', async () => {
  await withRole('', async (_, url) => refuses(url, /can't be used|may not/));
});

test('a role that may not prepare an empty database is told what it lacks', async () => {
  const empty = await createEmptyDatabase();
  const at = (url: string) => url.replace(`/${name}?`, `/${empty.name}?`);
  await withRole('', async (role, url) => {
    await refuses(at(url), /grant create on database/);
    const there = connectOwner({ url: empty.superuserUrl });
    await there.unsafe(`grant create on database ${empty.name} to ${role}`);
    await refuses(at(url), /createrole/);
    await there.unsafe(`drop owned by ${role}`);
    await there.end();
  });
});

test('a superuser may prepare the tables; the service does not work as one', async () => {
  const fresh = await createEmptyDatabase();
  const db = await openDatabase(place(fresh.superuserUrl));
  const [row] = await db.use(
    (sql) => sql`
      select rolsuper, rolbypassrls from pg_roles where rolname = current_user`,
  );
  await db.close();
  assert.deepEqual({ ...row }, { rolsuper: false, rolbypassrls: false });
});

test('a database that cannot be reached is refused with a sentence', async () => {
  await refuses(urlOf('test_owner', 'wrong password'), /DATABASE_URL can't be used.*Check/);
  await refuses(databaseUrl.replace(name, 'no_such_database'), /DATABASE_URL can't be used.*Check/);
});
