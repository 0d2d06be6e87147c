import { randomBytes } from 'node:crypto';
import { type ConnectionTiming, connectionSettings, type Sql, type Tx } from './driver.ts';
import { errorCode } from './errors.ts';
import { grants } from './migrate.ts';
import { StartupError } from './startup-error.ts';
import { withMigrationLock, withSavepoint } from './transaction.ts';

/**
 * Creates the role that the service logs in as, one for each database, or brings its privileges up to date. The role's password
 * is stored in a table that only the owner of the tables can read, so all nodes need only the owner's DATABASE_URL.
 */
export async function createServiceRole(
  owner: Sql,
  timing: ConnectionTiming,
): Promise<{ username: string; password: string }> {
  try {
    return await withMigrationLock(owner, async (tx) => {
      const [{ role, exists }] = await tx<[{ role: string; exists: boolean }]>`
        select r.role, exists (select from pg_roles where rolname = r.role) as exists
        from (select 'banyan_service_' || oid as role from pg_database where datname = current_database()) r`;
      await tx`create table if not exists service_login (role text primary key, password text not null)`;
      const newPassword = randomBytes(24).toString('base64url');
      const [inserted] = await tx`
        insert into service_login values (${role}, ${newPassword}) on conflict do nothing returning password`;
      const [{ password }] = await tx<[{ password: string }]>`
        select password from service_login where role = ${role}`;
      if (!exists) await tx.unsafe(`create role "${role}" login password '${password}'`);
      else if (inserted) await tx.unsafe(`alter role "${role}" password '${password}'`);
      await tx.unsafe(grants.replaceAll(':service', `"${role}"`));
      await saveRoleSettings(tx, role, connectionSettings(timing));
      return { username: role, password };
    });
  } catch (error) {
    if (errorCode(error) !== '42501') throw error;
    throw new StartupError(
      `The role of DATABASE_URL may not create the service's own role (${(error as Error).message}). ` +
        'Allow it: alter role … createrole',
    );
  }
}

/**
 * Gives the role the settings of the service's connections, in this database: a pooler may drop those that a connection asks
 * for. Writes nothing if they are already set.
 */
async function saveRoleSettings(tx: Tx, role: string, settings: Record<string, string>): Promise<void> {
  const expected = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const [{ missing, roleInDatabase }] = await tx<[{ missing: boolean; roleInDatabase: string }]>`
    select not exists (
        select from pg_db_role_setting s join pg_roles r on r.oid = s.setrole join pg_database d on d.oid = s.setdatabase
        where r.rolname = ${role} and d.datname = current_database() and s.setconfig @> ${expected}
      ) as missing,
      quote_ident(${role}) || ' in database ' || quote_ident(current_database()) as "roleInDatabase"`;
  if (!missing) return;
  const statements = Object.entries(settings).map(
    ([name, value]) => `alter role ${roleInDatabase} set ${name} = '${value}'`,
  );
  await withSavepoint(tx, (inner) => inner.unsafe(statements.join(';'))).catch((error) => {
    // Another role created this one, so we may not alter it. It matters only behind a pooler: see `assertSettings`.
    if (errorCode(error) !== '42501') throw error;
  });
}

/** Checks that the settings are in effect, because a pooler may drop them: then statements have no timeout, or find no tables. */
export async function assertSettings(service: Sql, timeZone: string, timing: ConnectionTiming): Promise<void> {
  const expected = { ...connectionSettings(timing), TimeZone: timeZone };
  const rows = await service<{ name: string; setting: string; role: string }[]>`
    select name, setting, current_user as role from pg_settings where name = any(${Object.keys(expected)})`;
  const dropped = Object.entries(expected).filter(
    ([name, value]) => rows.find((row) => row.name === name)?.setting.toLowerCase() !== value.toLowerCase(),
  );
  if (dropped.length === 0) return;
  throw new StartupError(
    `Something between Banyan and PostgreSQL, such as a pooler, drops the settings ${dropped.map(([name]) => name).join(', ')}, ` +
      `and the role ${rows[0]?.role} does not have them. Start once with a direct connection to PostgreSQL as the ` +
      'owner of the tables, which sets them on the role; then restart the pooler.',
  );
}

/** Returns the role and password that `createServiceRole` has stored; undefined if it has not. */
export async function readServiceLogin(owner: Sql): Promise<{ username: string; password: string } | undefined> {
  const [login] = await owner<{ username: string; password: string }[]>`
    select role as username, password from banyan.service_login
    where role = (select 'banyan_service_' || oid from pg_database where datname = current_database())`;
  return login;
}

/** Whether this connection already uses the service's role: the tables exist, and it cannot act as their owner. */
export async function isServiceRole(sql: Sql): Promise<boolean> {
  const [{ service }] = await sql<[{ service: boolean }]>`
    select exists (
      select from pg_namespace n join pg_roles r on r.rolname = current_user
      where n.nspname = 'banyan' and not r.rolsuper and not pg_has_role(n.nspowner, 'member')
    ) as service`;
  return service;
}

/** Row-level security does not apply to every role. The service refuses to start as a role that could bypass it. */
export async function assertSafeRole(service: Sql): Promise<void> {
  const [role] = await service<[{ name: string; superuser: boolean; bypass: boolean; owns: string | null }]>`
    select current_user as name,
      (select bool_or(rolsuper) from pg_roles where pg_has_role(oid, 'member')) as superuser,
      (select bool_or(rolbypassrls) from pg_roles where pg_has_role(oid, 'member')) as bypass,
      (select min(c.relname) from pg_class c
        where c.relnamespace = 'banyan'::regnamespace and pg_has_role(c.relowner, 'member')) as owns`;
  const problem =
    (role.superuser && 'is a superuser, or may become one') ||
    (role.bypass && 'has BYPASSRLS, or may become a role that has it') ||
    (role.owns && `owns the table ${role.owns}, or may become its owner`);
  if (problem) {
    throw new StartupError(
      `The service's role ${role.name} ${problem}: row-level security would not apply to it, and tenants could see each other. ` +
        'Revoke that privilege, then start again.',
    );
  }
  const unprotected = await service<{ table: string }[]>`
    select c.relname as table from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relnamespace = 'banyan'::regnamespace and c.relkind in ('r', 'p')
      and not (c.relrowsecurity and c.relforcerowsecurity)`;
  if (unprotected.length > 0) {
    throw new StartupError(
      `Row-level security is not forced on ${unprotected.map(({ table }) => table).join(', ')}: tenants could see each other. ` +
        'Restore it: alter table banyan.… enable row level security, force row level security',
    );
  }
}
