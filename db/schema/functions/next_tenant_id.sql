-- Returns a snowflake-style id: 41 bits of milliseconds since 2024 and 22 bits of a counter.
create or replace function next_tenant_id() returns bigint language sql volatile as $$
  select ((extract(epoch from clock_timestamp()) * 1000)::bigint - 1704067200000) << 22
       | (nextval('tenant_serial') & 4194303)
$$;
