-- Returns the days of the notice that is due when so many days are left until the end of service: the nearest of 30, 7 and 1.
create or replace function days_of_notice(days_left int) returns int language sql immutable as $$
  select case when days_left < 0 then null when days_left <= 1 then 1 when days_left <= 7 then 7 when days_left <= 30 then 30 end
$$;
