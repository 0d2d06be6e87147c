-- Returns the terms under which a tenant is found. They have no prefix: a tenant is found by all tenants above it. The index
-- tenants_search uses this function: changing it requires a migration that rebuilds the index.
create or replace function tenant_terms(tenant_name text, company_name text, contact_phone text) returns bigint[]
  language plpgsql immutable parallel safe as $$
begin
  return banyan.search_ngrams('n', concat_ws(E'\n', tenant_name, company_name))
    || banyan.pinyin_terms('p', tenant_name) || banyan.pinyin_terms('p', company_name) || banyan.digit_terms('d', contact_phone)
    || hashtextextended('=' || lower(coalesce(nullif(tenant_name, ''), company_name, '')), 0);
end $$;
