-- One ledger: every write of a department, a tenant or a user leaves a row here, in its own transaction and by the
-- database itself, so that no statement can forget it. Audit log, change feed, webhooks, history and undo read it.
--
-- Who is at work comes from settings of the transaction (db/tenancy.ts): banyan.origin says who calls, from where and
-- with which request; an array of them, where one statement makes departments for several callers, in the order of ids.

create sequence change_serial as bigint maxvalue 9007199254740991;

create table changes (
  tenant_id   text not null,
  change_id   bigint not null,
  batch       bigint not null,               -- the same for what was done by one request
  time        timestamptz not null,          -- the same for what was done by one request
  by_name     text not null,                 -- as in create_by and update_by
  by_user     bigint,                        -- null: the service itself
  by_tenant   text,                          -- the tenant of by_user: its own, or one above
  address     text,
  request_id  text,
  resource    text not null,                 -- department, tenant, user, login
  resource_id bigint not null,
  action      text not null,                 -- created, updated, moved, deleted, restored; see server/changes/schema.ts
  parent_id   bigint,                        -- of a department that came to its place by this: its parent, 0 for none
  copy        boolean not null default false,-- of a tenant's change, for a tenant above it
  before      json,                          -- as a read shows it; null: was not there
  after       json,                          -- null: is not there any more
  primary key (tenant_id, change_id)
);
-- Not compressed: a record is short, unless it lies a thousand levels deep, and then that would take longer than all else.
alter table changes alter column before set storage external, alter column after set storage external;
create index changes_of_resource on changes (tenant_id, resource, resource_id, change_id);
create index changes_of_children on changes (tenant_id, parent_id, resource_id) where parent_id is not null;
create index changes_in_time on changes (tenant_id, time, change_id);
alter table changes enable row level security;
alter table changes force row level security;
create policy own_tenant on changes using (tenant_id = current_setting('banyan.tenant', true));
-- The audit of the tenants below: their codes, as the transaction itself has seen them to be below its own.
create policy below on changes for select
  using (tenant_id = any (string_to_array(current_setting('banyan.below', true), ',')));

-- The order in which a tenant's changes are told, and the chain of hashes that shows when one was altered, taken out or
-- put elsewhere. It follows the commit, so that writers need not wait for each other: change ids are given before the
-- commit, and become visible in any order; `seq` is given to what is visible, under a lock, and has no gaps.
create table seals (
  tenant_id text not null,
  seq       bigint not null,
  change_id bigint not null,
  hash      bytea not null,                  -- sha-256 of the hash before and of the change, see change_text
  archived  boolean not null default false,  -- the change was moved to changes_archive, which may have been emptied since
  primary key (tenant_id, seq),
  unique (tenant_id, change_id)
);
alter table seals enable row level security;
alter table seals force row level security;
create policy own_tenant on seals using (tenant_id = current_setting('banyan.tenant', true));

-- The last seal of a tenant; locked by who seals.
create table seal_heads (
  tenant_id text primary key,
  seq       bigint not null,
  hash      bytea not null
);
alter table seal_heads enable row level security;
alter table seal_heads force row level security;
create policy own_tenant on seal_heads using (tenant_id = current_setting('banyan.tenant', true));

-- What is not sealed yet.
create table unsealed (
  tenant_id text not null,
  change_id bigint not null,
  primary key (tenant_id, change_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
alter table unsealed enable row level security;
alter table unsealed force row level security;
create policy own_tenant on unsealed using (tenant_id = current_setting('banyan.tenant', true));

-- What is older than BANYAN_LEDGER_DAYS and has been followed by something else of those days: moved here by the tables'
-- owner (db/ledger.ts). Nobody writes here but him: it can be copied away, emptied or dropped while others work.
create table changes_archive (like changes including defaults, primary key (tenant_id, change_id));
alter table changes_archive enable row level security;
alter table changes_archive force row level security;
create policy own_tenant on changes_archive using (tenant_id = current_setting('banyan.tenant', true));

-- Of all ledgers: what was before is not known in full, because some of it was archived. null: all is here.
create table ledger_state (
  only_row  boolean primary key default true check (only_row),
  kept_from timestamptz
);
insert into ledger_state default values;

-- Which tenants have something to seal: codes alone, for the service, which sees one tenant at a time.
create policy waiting on unsealed for select to current_user using (true);
create function tenants_to_seal(at_most int) returns setof text
  language sql volatile security definer set search_path = banyan, pg_temp as $$
  select distinct tenant_id from (select tenant_id from unsealed limit 10000) waiting limit at_most
$$;
revoke execute on function tenants_to_seal from public;

-- And in whose ledgers there is more than their followers know.
create policy news on seal_heads for select to current_user using (true);
create function tenants_with_news(tenants text[], known bigint[]) returns setof text
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select f.tenant_id from unnest(tenants, known) f (tenant_id, seq)
  where exists (select from unsealed u where u.tenant_id = f.tenant_id)
    or exists (select from seal_heads h where h.tenant_id = f.tenant_id and h.seq > f.seq)
$$;
revoke execute on function tenants_with_news from public;

-- What is hashed.
create function change_text(c changes) returns text language sql stable as $$
  select json_build_array(c.tenant_id, c.change_id, c.batch, extract(epoch from c.time)::text, c.by_name, c.by_user,
    c.by_tenant, c.address, c.request_id, c.resource, c.resource_id, c.action, c.parent_id, c.copy,
    c.before::text, c.after::text)::text
$$;

-- Seals what is committed, oldest first. Whoever depends on another's change has the greater id, and cannot be visible
-- without it: so the order by ids, among what is visible, puts no cause behind its effect.
-- By keys alone: mostly there is next to nothing to seal, and a connection would keep the plan that was made for that. So
-- changes are asked for as a range, and in the order that only their key has.
create function seal_changes(tenant text, at_most int) returns bigint
  language plpgsql volatile set search_path = banyan, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  head seal_heads;
  change changes;
  sealed bigint[] := '{}';
begin
  if not exists (select from unsealed u where u.tenant_id = tenant) then
    return (select h.seq from seal_heads h where h.tenant_id = tenant);
  end if;
  insert into seal_heads values (tenant, 0, '') on conflict do nothing;
  select * into head from seal_heads h where h.tenant_id = tenant for update;
  for change in
    select c.* from (
      select u.change_id from unsealed u where u.tenant_id = tenant order by u.change_id limit at_most
    ) waiting cross join lateral (
      select * from changes c
      where c.tenant_id = tenant and c.change_id >= waiting.change_id and c.change_id <= waiting.change_id
      order by c.change_id limit 1
    ) c
    order by waiting.change_id
  loop
    head.seq := head.seq + 1;
    head.hash := sha256(head.hash || convert_to(change_text(change), 'UTF8'));
    insert into seals values (tenant, head.seq, change.change_id, head.hash);
    sealed := sealed || change.change_id;
  end loop;
  -- These and no others: another may have become visible between two of them.
  delete from unsealed u where u.tenant_id = tenant and u.change_id = any (sealed);
  update seal_heads h set seq = head.seq, hash = head.hash where h.tenant_id = tenant;
  return head.seq;
end $$;

-- One number, and one moment, for all that a transaction does. The moment is that of its first write, when it has its
-- locks: that of its begin may lie before a change that it waited for.
create function change_batch() returns bigint language plpgsql volatile set search_path = banyan, pg_temp as $$
declare
  known text := current_setting('banyan.batch', true);
begin
  if known <> '' then return known::bigint; end if;
  return set_config('banyan.batch', nextval('change_serial')::text, true)::bigint;
end $$;
create function change_moment() returns timestamptz language plpgsql volatile set search_path = banyan, pg_temp as $$
declare
  known text := current_setting('banyan.moment', true);
begin
  if known <> '' then return known::timestamptz; end if;
  return set_config('banyan.moment', clock_timestamp()::text, true)::timestamptz;
end $$;
create function change_origin() returns jsonb language sql stable as $$
  select coalesce(nullif(current_setting('banyan.origin', true), ''), '{}')::jsonb
$$;

-- From the top down to a department, itself included, as `ancestors` shows it; '' hundreds of levels deep: of ten thousand
-- made there at once the ledger would be filled with nothing else. It follows from `parentId`, as in the past
-- (server/history).
-- By its key alone: a connection keeps a plan from the time when there were a few departments, and would read them all.
create function department_path(tenant text, dept bigint) returns text
  language sql stable set search_path = banyan, pg_temp set enable_seqscan = off set enable_bitmapscan = off as $$
  with recursive up (id, depth) as (
    select dept, 1 where dept is not null
    union all
    select p.parent_id, up.depth + 1
    from up cross join lateral (
      select parent_id from departments p where p.tenant_id = tenant and p.dept_id = up.id limit 1
    ) p
    where p.parent_id is not null
  ), told (path) as (
    select '0' || coalesce(string_agg(',' || id, '' order by depth desc), '') from up
  )
  select case when octet_length(path) <= 2000 then path else '' end from told
$$;

-- The same of several at once, 0 for the top, and of all above them. Each department is looked at once, however many
-- share it, and its path is made once, from that of its parent: the cost follows their number, however deep they are.
create function department_paths(tenant text, depts bigint[]) returns table (id bigint, path text)
  language plpgsql stable set search_path = banyan, pg_temp set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  ids bigint[];   -- ascending
  above int[];    -- where in `ids` the parent of each is, 0 for none
  paths text[];   -- null: not made yet
  trail int[];    -- from a department up to one whose path is made
  steps int;
  place int;
  told text;
begin
  if cardinality(depts) = 1 then
    return query select depts[1], department_path(tenant, nullif(depts[1], 0));
    return;
  end if;
  with recursive up (id, parent_id) as (
    select d.dept_id, d.parent_id from unnest(depts) p (id) cross join lateral (
      select d.dept_id, d.parent_id from departments d where d.tenant_id = tenant and d.dept_id = p.id limit 1
    ) d
    union
    select d.dept_id, d.parent_id from up cross join lateral (
      select d.dept_id, d.parent_id from departments d where d.tenant_id = tenant and d.dept_id = up.parent_id limit 1
    ) d
  ), sorted as materialized (
    select array_agg(up.id order by up.id) as ids from up
  )
  -- The place of a number in a sorted list, by halving.
  select (select s.ids from sorted s),
      array_agg(coalesce(width_bucket(up.parent_id, (select s.ids from sorted s)), 0) order by up.id)
    into ids, above from up;
  paths := array_fill(null::text, array[coalesce(cardinality(ids), 0)]);
  for n in 1 .. cardinality(paths) loop
    steps := 0;
    place := n;
    while place > 0 and paths[place] is null loop
      steps := steps + 1;
      trail[steps] := place;
      place := above[place];
    end loop;
    told := case when place > 0 then paths[place] else '0' end;
    for step in reverse steps .. 1 loop
      place := trail[step];
      if told <> '' then told := told || ',' || ids[place]; end if;
      if octet_length(told) > 2000 then told := ''; end if;
      paths[place] := told;
    end loop;
  end loop;
  return query select 0::bigint, '0' union all select * from unnest(ids, paths);
end $$;

-- As a read shows it: DeptDTO.
create function department_shown(d departments, ancestors text) returns json language sql stable as $$
  select json_build_object('deptId', d.dept_id, 'parentId', coalesce(d.parent_id, 0), 'ancestors', ancestors,
    'deptName', d.dept_name, 'orderNum', d.order_num, 'leader', d.leader, 'phone', d.phone, 'email', d.email,
    'status', d.status, 'delFlag', d.del_flag, 'tenantId', d.tenant_id,
    'createBy', d.create_by, 'createTime', to_char(d.create_time, 'YYYY-MM-DD HH24:MI:SS'),
    'updateBy', d.update_by, 'updateTime', to_char(d.update_time, 'YYYY-MM-DD HH24:MI:SS'))
$$;

-- A connection keeps the plan of a trigger's statement, and with it what it believed of the rows when it first met them:
-- one, mostly. So that ten thousand written at once are still joined in one pass there are no nested loops, and each join
-- has one key alone: with the tenant beside it, it would be taken for key enough. Hence tenant by tenant; mostly it is one.
create function note_new_departments() returns trigger
  language plpgsql set search_path = banyan, pg_temp set enable_nestloop = off set jit = off as $$
declare
  origin jsonb := change_origin();
  several boolean := jsonb_typeof(origin) = 'array';
  tenant text;
  batch bigint;
  moment timestamptz;
begin
  for tenant in select distinct m.tenant_id from made m loop
    batch := case when several then 0 else change_batch() end;
    moment := change_moment();
    with noted as (
      insert into changes (tenant_id, change_id, batch, time, by_name, by_user, by_tenant, address, request_id,
        resource, resource_id, action, parent_id, after)
      select tenant, m.change_id, case when several then m.change_id else batch end, moment, m.create_by,
        (o.origin ->> 'userId')::bigint, o.origin ->> 'tenantId', o.origin ->> 'address', o.origin ->> 'requestId',
        'department', m.dept_id, 'created', coalesce(m.parent_id, 0),
        department_shown((m.tenant_id, m.dept_id, m.parent_id, m.dept_name, m.order_num, m.leader, m.phone, m.email,
          m.status, m.del_flag, m.create_by, m.create_time, m.update_by, m.update_time)::departments, p.path)
      from (
        select s.*, nextval('change_serial') as change_id, row_number() over () as n
        from (select * from made where tenant_id = tenant order by dept_id) s
      ) m
      join department_paths(tenant, array(
        select distinct coalesce(parent_id, 0) from made where tenant_id = tenant)) p on p.id = coalesce(m.parent_id, 0)
      cross join lateral (select case when several then origin -> (m.n::int - 1) else origin end as origin) o
      returning change_id
    )
    insert into unsealed select tenant, change_id from noted;
  end loop;
  return null;
end $$;
create trigger note_new after insert on departments
  referencing new table as made for each statement execute function note_new_departments();

create function note_changed_departments() returns trigger
  language plpgsql set search_path = banyan, pg_temp set enable_nestloop = off set jit = off as $$
declare
  origin jsonb := change_origin();
  tenant text;
  batch bigint;
  moment timestamptz;
begin
  -- An update that met no row is no write: the moment is still to come, behind the locks that are waited for next.
  for tenant in select distinct b.tenant_id from became b loop
    batch := change_batch();
    moment := change_moment();
    with paths as materialized (
      select * from department_paths(tenant, array(
        select coalesce(parent_id, 0) from was where tenant_id = tenant
        union select coalesce(parent_id, 0) from became where tenant_id = tenant))
    ), noted as (
      insert into changes (tenant_id, change_id, batch, time, by_name, by_user, by_tenant, address, request_id,
        resource, resource_id, action, parent_id, before, after)
      select tenant, b.change_id, batch, moment, b.update_by, (origin ->> 'userId')::bigint, origin ->> 'tenantId',
        origin ->> 'address', origin ->> 'requestId', 'department', b.dept_id, k.action,
        case when k.action in ('moved', 'restored') then coalesce(b.parent_id, 0) end,
        case when w.del_flag = '0' then
          department_shown((w.tenant_id, w.dept_id, w.parent_id, w.dept_name, w.order_num, w.leader, w.phone, w.email,
            w.status, w.del_flag, w.create_by, w.create_time, w.update_by, w.update_time)::departments, wp.path) end,
        case when b.del_flag = '0' then
          department_shown((b.tenant_id, b.dept_id, b.parent_id, b.dept_name, b.order_num, b.leader, b.phone, b.email,
            b.status, b.del_flag, b.create_by, b.create_time, b.update_by, b.update_time)::departments, bp.path) end
      from (
        select s.*, nextval('change_serial') as change_id
        from (select * from became where tenant_id = tenant order by dept_id) s
      ) b
      join (select * from was where tenant_id = tenant) w on w.dept_id = b.dept_id
      join paths wp on wp.id = coalesce(w.parent_id, 0)
      join paths bp on bp.id = coalesce(b.parent_id, 0)
      cross join lateral (select case
          when w.del_flag = '0' and b.del_flag <> '0' then 'deleted'
          when w.del_flag <> '0' and b.del_flag = '0' then 'restored'
          when w.parent_id is distinct from b.parent_id then 'moved'
          else 'updated' end as action) k
      where w.del_flag = '0' or b.del_flag = '0'
      returning change_id
    )
    insert into unsealed select tenant, change_id from noted;
  end loop;
  return null;
end $$;
create trigger note_changed after update on departments
  referencing old table as was new table as became for each statement execute function note_changed_departments();

-- One row of the ledger, in the ledger of `ledger`, whichever tenant the transaction has entered.
create function note_change(ledger text, named text, kind text, id bigint, did text, was json, became json,
    is_copy boolean default false) returns void
  language plpgsql set search_path = banyan, pg_temp as $$
declare
  origin jsonb := change_origin();
  entered text := current_setting('banyan.tenant', true);
begin
  perform set_config('banyan.tenant', ledger, true);
  with noted as (
    insert into changes (tenant_id, change_id, batch, time, by_name, by_user, by_tenant, address, request_id,
      resource, resource_id, action, copy, before, after)
    values (ledger, nextval('change_serial'), change_batch(), change_moment(), named,
      (origin ->> 'userId')::bigint, origin ->> 'tenantId', origin ->> 'address', origin ->> 'requestId',
      kind, id, did, is_copy, was, became)
    returning change_id
  )
  insert into unsealed select ledger, change_id from noted;
  perform set_config('banyan.tenant', coalesce(entered, ''), true);
end $$;

-- TenantDTO, with all ten quotas: a read shows six of them, and undoing needs the others too.
create function tenant_shown(t tenants) returns json language sql stable as $$
  select json_build_object('id', t.id::text, 'tenantId', t.tenant_id, 'tenantName', t.tenant_name,
    'tenantParent', t.parent_id, 'startTime', to_char(t.start_date, 'YYYY-MM-DD'),
    'endTime', to_char(t.end_date, 'YYYY-MM-DD'), 'contactUserName', t.contact_user_name,
    'contactPhone', t.contact_phone, 'companyName', t.company_name, 'status', t.status,
    'accountCount', t.account_count, 'packageBo', json_build_object('menuIds', array_to_string(t.menu_ids, ', ')),
    'quotaBo', t.quotas, 'ruleBo', t.rules)
$$;

-- Followers of a tenant follow the records of the tenants below it too: each ledger above gets a copy. A tenant that is
-- moved away is gone from those that it is not below any more, and new to those that it comes below; and so is
-- every tenant that moves along, whose own record stays as it was.
create function note_tenant() returns trigger language plpgsql set search_path = banyan, pg_temp as $$
declare
  ledger text;
  came boolean;
  left_it boolean;
  by_name text;
  did text := case
    when tg_op = 'INSERT' then 'created'
    when old.del_flag = '0' and new.del_flag <> '0' then 'deleted'
    when old.del_flag <> '0' and new.del_flag = '0' then 'restored'
    when old.parent_id is distinct from new.parent_id then 'moved'
    else 'updated' end;
begin
  if tg_op = 'INSERT' then
    foreach ledger in array new.path loop
      perform note_change(ledger, new.create_by, 'tenant', new.id, did, null, tenant_shown(new), ledger <> new.tenant_id);
    end loop;
    return null;
  end if;
  by_name := coalesce(nullif(current_setting('banyan.mover', true), ''), new.update_by);
  foreach ledger in array array(select p.code from unnest(old.path || new.path) with ordinality p (code, n)
      group by p.code order by min(p.n)) loop
    came := not ledger = any (old.path);
    left_it := not ledger = any (new.path);
    if came or left_it then
      -- What was deleted before is nobody's news.
      continue when old.del_flag <> '0';
    else
      continue when tenant_shown(old)::text = tenant_shown(new)::text and old.del_flag = new.del_flag
        and old.update_time is not distinct from new.update_time;
    end if;
    perform note_change(ledger, by_name, 'tenant', new.id, case when came or left_it then 'moved' else did end,
      case when did <> 'restored' and not came then tenant_shown(old) end,
      case when did <> 'deleted' and not left_it then tenant_shown(new) end, ledger <> new.tenant_id);
  end loop;
  return null;
end $$;
create trigger note_new after insert on tenants for each row execute function note_tenant();
create trigger note_changed after update on tenants for each row
  when ((old.tenant_name, old.path, old.parent_id, old.start_date, old.end_date, old.contact_user_name, old.contact_phone,
      old.company_name, old.status, old.account_count, old.menu_ids, old.quotas, old.rules, old.del_flag, old.update_time)
    is distinct from (new.tenant_name, new.path, new.parent_id, new.start_date, new.end_date, new.contact_user_name,
      new.contact_phone, new.company_name, new.status, new.account_count, new.menu_ids, new.quotas, new.rules,
      new.del_flag, new.update_time))
  execute function note_tenant();

-- UserDTO.
create function user_shown(u users) returns json language sql stable set search_path = banyan, pg_temp as $$
  select json_build_object('userId', u.user_id, 'tenantId', u.tenant_id, 'userName', u.user_name,
    'nickName', u.nick_name,
    'deptId', (select m.dept_id from user_departments m
      where m.tenant_id = u.tenant_id and m.user_id = u.user_id and m.main),
    'deptIds', array(select m.dept_id from user_departments m
      where m.tenant_id = u.tenant_id and m.user_id = u.user_id and not m.main order by m.dept_id),
    'email', u.email, 'phone', u.phone, 'status', u.status,
    'roles', array[case when u.administrator then 'admin' else 'member' end],
    'createBy', u.create_by, 'createTime', to_char(u.create_time, 'YYYY-MM-DD HH24:MI:SS'),
    'updateBy', u.update_by, 'updateTime', to_char(u.update_time, 'YYYY-MM-DD HH24:MI:SS'))
$$;

-- A user is written in several statements, his departments among them: noted when all of them are done, at the commit.
-- As he was before the ledger knows, because it noted that.
create function note_user() returns trigger language plpgsql set search_path = banyan, pg_temp as $$
declare
  person users;
  entered text := current_setting('banyan.tenant', true);
  last changes;
  became json;
begin
  perform set_config('banyan.tenant', new.tenant_id, true);
  if tg_table_name = 'users' and tg_op = 'UPDATE' and old.password_hash <> new.password_hash then
    perform note_change(new.tenant_id, new.update_by, 'user', new.user_id, 'password changed', null, null);
  end if;
  select * into person from users u where u.tenant_id = new.tenant_id and u.user_id = new.user_id;
  select * into last from changes c
    where c.tenant_id = new.tenant_id and c.resource = 'user' and c.resource_id = new.user_id
      and c.action <> 'password changed'
    order by c.change_id desc limit 1;
  became := case when person.del_flag = '0' then user_shown(person) end;
  if last.change_id is null or last.after::text is distinct from became::text then
    perform note_change(new.tenant_id, coalesce(nullif(person.update_by, ''), person.create_by), 'user', person.user_id,
      case when last.change_id is null then 'created' when became is null then 'deleted'
        when last.after is null then 'restored' else 'updated' end, last.after, became);
  end if;
  perform set_config('banyan.tenant', coalesce(entered, ''), true);
  return null;
end $$;
create constraint trigger note_user after insert or update on users
  deferrable initially deferred for each row execute function note_user();

-- What was there before the ledger: as it is now, since it was made, and deleted when it was last written. What happened
-- to it in between is not known.
do $$
declare
  t tenants;
  ledger text;
begin
  for t in select * from tenants order by cardinality(path), id loop
    foreach ledger in array t.path loop
      perform set_config('banyan.tenant', ledger, true);
      insert into changes (tenant_id, change_id, batch, time, by_name, resource, resource_id, action, copy, before, after)
      select ledger, n.id, n.id, e.time, e.by_name, 'tenant', t.id, e.action, ledger <> t.tenant_id, e.before, e.after
      from (values (t.create_time, t.create_by, 'created', null::json, tenant_shown(t)),
        (t.update_time, t.update_by, 'deleted', tenant_shown(t), null)) e (time, by_name, action, before, after),
        lateral (select nextval('change_serial') as id where e.action <> '') n
      where e.action = 'created' or t.del_flag <> '0';
    end loop;
    perform set_config('banyan.tenant', t.tenant_id, true);
    -- Parents before their children, and the other way round where they are gone.
    insert into changes (tenant_id, change_id, batch, time, by_name, resource, resource_id, action, parent_id, before, after)
    with recursive down (dept_id, path, depth) as (
      select d.dept_id, '0', 1 from departments d where d.tenant_id = t.tenant_id and d.parent_id is null
      union all
      select d.dept_id, case when length(down.path) <= 2000 then down.path || ',' || d.parent_id else down.path end,
        down.depth + 1
      from down join departments d on d.tenant_id = t.tenant_id and d.parent_id = down.dept_id
    ), shown as (
      select d.*, down.depth, department_shown(case when d.del_flag = '0' then d else jsonb_populate_record(d,
        '{"del_flag": "0", "update_by": "", "update_time": null}') end,
        case when length(down.path) <= 2000 then down.path else '' end) as record
      from down join departments d on d.tenant_id = t.tenant_id and d.dept_id = down.dept_id
    ), happened as (
      select create_time as time, create_by as by_name, 'created' as action, s.*, depth as turn from shown s
      union all
      select update_time, update_by, 'deleted', s.*, 1000000000 - depth from shown s where del_flag <> '0'
    )
    select h.tenant_id, h.id, h.id, h.time, h.by_name, 'department', h.dept_id, h.action,
      case when h.action = 'created' then coalesce(h.parent_id, 0) end,
      case when h.action = 'deleted' then h.record end, case when h.action = 'created' then h.record end
    from (
      select o.*, nextval('change_serial') as id from (select * from happened order by turn, dept_id) o
    ) h;
    insert into changes (tenant_id, change_id, batch, time, by_name, resource, resource_id, action, before, after)
    select u.tenant_id, n.id, n.id, e.time, e.by_name, 'user', u.user_id, e.action, e.before, e.after
    from users u cross join lateral (values (u.create_time, u.create_by, 'created', null::json, user_shown(u)),
        (u.update_time, u.update_by, 'deleted', user_shown(u), null)) e (time, by_name, action, before, after)
      cross join lateral (select nextval('change_serial') as id where e.action <> '') n
    where u.tenant_id = t.tenant_id and (e.action = 'created' or u.del_flag <> '0');
  end loop;
  -- Once all are noted: those of the tenants below are in the ledgers above too.
  for t in select * from tenants loop
    perform set_config('banyan.tenant', t.tenant_id, true);
    insert into unsealed select tenant_id, change_id from changes where tenant_id = t.tenant_id;
  end loop;
  perform set_config('banyan.tenant', '', true);
end $$;
