import { randomBytes } from 'node:crypto';
import { attempt, beginAlone, type ConnectionTiming, codeOf, type Sql, settingsOf, type Tx } from './sql.ts';
import { StartRefused } from './start-refused.ts';

/** What the service may do, table by table. Nothing is deleted that the interface only marks as deleted. */
const grants = `
  grant usage on schema banyan to "%role";
  grant select on migrations, tenant_tree to "%role";
  grant update on tenant_tree to "%role"; -- to lock its row
  grant select, insert, update on tenants, departments, users to "%role";
  grant select, insert, update, delete on user_departments, sessions, login_failures, login_addresses, idempotency_keys,
    webhooks, webhook_deliveries to "%role";
  grant select, insert on signing_keys to "%role";
  -- The ledger is written and read, never changed.
  grant select on changes_archive, ledger_state to "%role";
  grant select, insert on changes, seals to "%role";
  grant select, insert, update on seal_heads to "%role";
  grant select, insert, delete on unsealed to "%role";
  grant usage on sequence tenant_serial, dept_serial, user_serial, change_serial, webhook_serial,
    delivery_serial to "%role";
  grant execute on function tenant_standing(text), departments_found(text, text, int), tenants_to_seal(int),
    tenants_with_news(text[], bigint[]), webhooks_with_work(int, int) to "%role";
`;

/**
 * The service's own login, one for each database. Its password is known to the tables' owner alone, who makes it; so
 * one DATABASE_URL, the owner's, is all that any number of nodes need.
 */
export async function makeServiceRole(
  owner: Sql,
  timing: ConnectionTiming,
): Promise<{ username: string; password: string }> {
  try {
    return await beginAlone(owner, async (tx) => {
      const [{ role, exists }] = await tx<[{ role: string; exists: boolean }]>`
        select r.role, exists (select from pg_roles where rolname = r.role) as exists
        from (select 'banyan_service_' || oid as role from pg_database where datname = current_database()) r`;
      await tx`create table if not exists service_login (role text primary key, password text not null)`;
      const fresh = randomBytes(24).toString('base64url');
      const [made] = await tx`
        insert into service_login values (${role}, ${fresh}) on conflict do nothing returning password`;
      const [{ password }] = await tx<[{ password: string }]>`
        select password from service_login where role = ${role}`;
      if (!exists) await tx.unsafe(`create role "${role}" login password '${password}'`);
      else if (made) await tx.unsafe(`alter role "${role}" password '${password}'`);
      await tx.unsafe(grants.replaceAll('%role', role));
      await keepSettings(tx, role, settingsOf(timing));
      return { username: role, password };
    });
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    throw new StartRefused(
      `The role of DATABASE_URL may not make the service's own role (${(error as Error).message}). ` +
        'Allow it: alter role … createrole',
    );
  }
}

/**
 * What the service's connections ask for is also what its role has, in this database: behind a pooler it is all there is.
 * Not written again each time: nodes that start would wait for each other's commit.
 */
async function keepSettings(tx: Tx, role: string, settings: Record<string, string>): Promise<void> {
  const wanted = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const [{ missing, place }] = await tx<[{ missing: boolean; place: string }]>`
    select not exists (
        select from pg_db_role_setting s join pg_roles r on r.oid = s.setrole join pg_database d on d.oid = s.setdatabase
        where r.rolname = ${role} and d.datname = current_database() and s.setconfig @> ${wanted}
      ) as missing,
      quote_ident(${role}) || ' in database ' || quote_ident(current_database()) as place`;
  if (!missing) return;
  const set = Object.entries(settings).map(([name, value]) => `alter role ${place} set ${name} = '${value}'`);
  await attempt(tx, (inner) => inner.unsafe(set.join(';'))).catch((error) => {
    // A role that somebody else made. Without a pooler nothing is missing, and with one the start says so.
    if (codeOf(error) !== '42501') throw error;
  });
}

/** A pooler may drop what a connection asks for. Without it statements would never end, or find no tables. */
export async function refuseLostSettings(service: Sql, timeZone: string, timing: ConnectionTiming): Promise<void> {
  const wanted = { ...settingsOf(timing), TimeZone: timeZone };
  const rows = await service<{ name: string; setting: string; role: string }[]>`
    select name, setting, current_user as role from pg_settings where name = any(${Object.keys(wanted)})`;
  const lost = Object.entries(wanted).filter(
    ([name, value]) => rows.find((row) => row.name === name)?.setting.toLowerCase() !== value.toLowerCase(),
  );
  if (lost.length === 0) return;
  throw new StartRefused(
    `Something between Banyan and PostgreSQL, a pooler perhaps, drops the settings ${lost.map(([name]) => name).join(', ')}, ` +
      `and the role ${rows[0]?.role} does not have them. Start once with the address of PostgreSQL itself, as the tables' ` +
      'owner, which gives them to the role; then restart the pooler.',
  );
}

/** As the last start made it. */
export async function readServiceLogin(owner: Sql): Promise<{ username: string; password: string } | undefined> {
  const [login] = await owner<{ username: string; password: string }[]>`
    select role as username, password from banyan.service_login
    where role = (select 'banyan_service_' || oid from pg_database where datname = current_database())`;
  return login;
}

/** Whether this login is a service's already: the tables are there, and it has no say over them. */
export async function isService(sql: Sql): Promise<boolean> {
  const [{ service }] = await sql<[{ service: boolean }]>`
    select exists (
      select from pg_namespace n join pg_roles r on r.rolname = current_user
      where n.nspname = 'banyan' and not r.rolsuper and not pg_has_role(n.nspowner, 'member')
    ) as service`;
  return service;
}

/** Row security does not bind every role. The service refuses to start with a role that can bypass it. */
export async function refuseUnsafeRole(service: Sql): Promise<void> {
  const [role] = await service<[{ name: string; superuser: boolean; bypass: boolean; owns: string | null }]>`
    select current_user as name,
      (select bool_or(rolsuper) from pg_roles where pg_has_role(oid, 'member')) as superuser,
      (select bool_or(rolbypassrls) from pg_roles where pg_has_role(oid, 'member')) as bypass,
      (select min(c.relname) from pg_class c
        where c.relnamespace = 'banyan'::regnamespace and pg_has_role(c.relowner, 'member')) as owns`;
  const fault =
    (role.superuser && 'is a superuser, or may become one') ||
    (role.bypass && 'has BYPASSRLS, or may take it on') ||
    (role.owns && `owns the table ${role.owns}, or may become its owner`);
  if (fault) {
    throw new StartRefused(
      `The service's role ${role.name} ${fault}: row security would not bind it, and tenants could see each other. ` +
        'Take that right away from it, then start again.',
    );
  }
  const open = await service<{ table: string }[]>`
    select c.relname as table from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relnamespace = 'banyan'::regnamespace and c.relkind in ('r', 'p')
      and not (c.relrowsecurity and c.relforcerowsecurity)`;
  if (open.length > 0) {
    throw new StartRefused(
      `Row security is not forced on ${open.map(({ table }) => table).join(', ')}: tenants could see each other. ` +
        'Restore it: alter table banyan.… enable row level security, force row level security',
    );
  }
}
