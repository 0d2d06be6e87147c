-- Returns figures about all tenants for the metrics of operators: nothing but counts and ages in seconds. It runs as the owner of
-- the tables, because the service sees one tenant at a time. Each count visits at most `max_rows` rows.
create or replace function service_figures(max_rows int)
  returns table ("unsealed" int, "unsealedSeconds" float8, "deliveries" int, "deliverySeconds" float8, "failingWebhooks" int,
    "quotas" int, "reservations" int)
  language sql stable security definer set search_path = banyan, pg_temp as $$
  with waiting_changes as materialized (
    select u.tenant_id, u.change_id from unsealed_changes u limit max_rows
  ), oldest_change as (
    select c.time from (select * from waiting_changes order by change_id limit 1) w
    join changes c on c.tenant_id = w.tenant_id and c.change_id = w.change_id
  ), busy_webhooks as materialized (
    -- Webhooks without work have no next_due, and are not visited.
    select w.tenant_id, w.webhook_id, w.waiting, w.failures from webhooks w
    where w.status = '0' and w.del_flag = '0' and w.next_due <= 'infinity' and w.waiting > 0
    order by w.next_due limit max_rows
  ), waiting_deliveries as (
    select d.time from busy_webhooks w
    join webhook_deliveries d on d.tenant_id = w.tenant_id and d.webhook_id = w.webhook_id and d.state = 'waiting'
    limit max_rows
  )
  select
    (select count(*) from waiting_changes)::int,
    coalesce((select greatest(0, extract(epoch from clock_timestamp() - time)) from oldest_change), 0)::float8,
    coalesce((select sum(waiting) from busy_webhooks), 0)::int,
    coalesce((select greatest(0, extract(epoch from clock_timestamp() - min(time))) from waiting_deliveries), 0)::float8,
    (select count(*) from busy_webhooks where failures > 0)::int,
    (select count(*) from (select from quota_counters limit max_rows) q)::int,
    (select count(distinct h.reservation_id) from (
      select reservation_id from quota_holds where expires > clock_timestamp() limit max_rows) h)::int
$$;
revoke execute on function service_figures from public;
