-- Returns which notice is due, for 30, 7 or 1 days, when this many days are left until the end of service; null: none.
create or replace function days_of_notice(days_left int) returns int language sql immutable as $$
  select case when days_left < 0 then null when days_left <= 1 then 1 when days_left <= 7 then 7 when days_left <= 30 then 30 end
$$;
