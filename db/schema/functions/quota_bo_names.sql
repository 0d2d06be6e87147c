-- The quotas that every tenant has, with totals in tenants.quotas.
create or replace function quota_bo_names() returns text[] language sql immutable as $$
  select array['enterpriseQuery', 'annualReportQuery', 'chainReport', 'businessReport', 'riskReport', 'merchant']
$$;
