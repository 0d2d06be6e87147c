-- Failed logins are forgotten in the end, or whoever tries names by chance fills the disk. See forgetOldFailures.
create index login_failures_old on login_failures (tenant_id, seen) where not trusted;
create index login_addresses_old on login_addresses (since);
