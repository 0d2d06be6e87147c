-- Returns the terms under which a phone number is found: every four adjacent digits of it, as hashes that include `prefix`.
-- Other characters are ignored. An index uses this function: changing it requires a migration that rebuilds the index.
create or replace function digit_terms(prefix text, phone text) returns bigint[]
  language plpgsql immutable parallel safe as $$
declare
  digits text := regexp_replace(phone, '[^0-9]', '', 'g');
  terms bigint[] := '{}';
begin
  for n in 1..coalesce(length(digits), 0) - 3 loop
    terms := terms || hashtextextended(prefix || substr(digits, n, 4), 0);
  end loop;
  return terms;
end $$;
