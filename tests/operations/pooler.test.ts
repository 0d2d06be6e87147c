import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { StartupError } from '../../db/startup-error.ts';
import { connectWithoutDeadline, createDatabase, NO_DEADLINES } from '../support/database.ts';
import { startPooler } from '../support/pooler.ts';

/** A connection pooler between the service and PostgreSQL. docs/operations.md says which are supported and how to configure them. */

const { name, databaseUrl, superuserUrl } = await createDatabase();
const open = (url: string) =>
  openDatabase({ databaseUrl: url, dataDir: '', timeZone: 'Asia/Shanghai', timing: NO_DEADLINES });

/** Opens the database through a pooler and returns the message with which that fails. */
const errorOf = (url: string) =>
  open(url).then(
    () => assert.fail('opened'),
    (error: Error) => {
      assert.ok(error instanceof StartupError, String(error));
      return error.message;
    },
  );

test('behind a pooler that drops settings and session state the role has the settings', async () => {
  const db = await open(await startPooler(databaseUrl, { settings: 'dropped', resetsSessions: true }));
  const [row] = await db.use(
    (sql) => sql<[Record<string, string>]>`
    select current_setting('search_path') as path, current_setting('TimeZone') as zone`,
  );
  assert.deepEqual({ ...row }, { path: 'banyan', zone: 'Asia/Shanghai' });
  await db.close();
});

test('a pooler that rejects the settings is reported with the line for its configuration', async () => {
  const message = await errorOf(await startPooler(databaseUrl, { settings: 'refused' }));
  assert.match(message, /^The pooler at DATABASE_URL rejects Banyan's settings \(unsupported startup parameter/);
  assert.match(message, /ignore_startup_parameters = search_path, default_transaction_isolation, statement_timeout/);
});

test('settings that the pooler drops and the role does not have are named', async () => {
  await (await open(databaseUrl)).close();
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  const [login] = await superuser<[{ role: string; password: string }]>`
    select * from banyan.service_login
    where role = (select 'banyan_service_' || oid from pg_database where datname = current_database())`;
  await superuser.unsafe(`alter role "${login.role}" in database ${name} reset statement_timeout`);
  // Connect as the service's own role, which cannot change its settings.
  const url = new URL(await startPooler(databaseUrl, { settings: 'dropped' }));
  Object.assign(url, { username: login.role, password: login.password });
  const dropped = await errorOf(url.href);
  assert.ok(
    dropped.includes(`drops the settings statement_timeout, and the role ${login.role} does not have them.`),
    dropped,
  );
  // The owner sets them again. Only the login of the service's role can fail now.
  await superuser.unsafe(`alter role "${login.role}" password 'another'`);
  assert.match(
    await errorOf(databaseUrl),
    new RegExp(`^The service's own role ${login.role} cannot log in \\(.*\\)\\. A pooler`),
  );
  await superuser.end();
});
