-- Returns the terms under which a user is found. The index users_search uses this function: changing it requires a migration
-- that rebuilds the index.
create or replace function user_terms(tenant text, user_name text, nick_name text, phone text) returns bigint[]
  language plpgsql immutable parallel safe as $$
begin
  return banyan.search_ngrams(tenant || 'n', concat_ws(E'\n', nick_name, user_name))
    || banyan.pinyin_terms(tenant || 'p', nick_name) || banyan.digit_terms(tenant || 'd', phone)
    || hashtextextended(tenant || '=' || lower(coalesce(nullif(nick_name, ''), user_name)), 0);
end $$;
