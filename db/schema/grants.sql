-- Privileges of the service's role; db/roles.ts replaces :service with its name. Departments, tenants, users and keys are only
-- marked as deleted, and recorded changes are never altered, so the role may not delete the former or update the latter.
grant usage on schema banyan to :service;
grant select on migrations, functions, tenant_tree_lock to :service;
grant update on tenant_tree_lock to :service; -- to lock its row
grant select, insert, update on tenants, departments, department_trees, users, api_keys, api_key_uses to :service;
grant select, insert, update, delete on user_departments, sessions, login_failures, login_addresses, idempotency_keys,
  api_key_secrets, webhooks, webhook_deliveries to :service;
grant select, insert, update on quotas, quota_counters, quota_reservations, quota_uses, quota_sums, quota_caller_sums
  to :service;
grant select, insert, delete on quota_holds to :service;
grant select on quota_uses_archive to :service;
grant select, insert on notices to :service;
grant select, insert, update on request_buckets, imported_records, imported_tenants to :service;
grant select, insert on signing_keys to :service;
grant select on changes_archive, tenant_versions_archive, ledger_retention, change_positions, change_order,
  webhook_subtree_marks to :service;
grant select, insert on changes, tenant_versions, seals to :service;
grant select, insert, update on seal_heads to :service;
grant select, insert, delete on unsealed_changes to :service;
grant select, insert on unordered_changes to :service;
grant usage on sequence tenant_serial, dept_serial, user_serial, change_serial, webhook_serial, delivery_serial,
  key_serial, quota_serial, quota_use_serial, notice_serial to :service;
grant execute on function tenant_state, tenant_version, top_level_tenants, search_departments, find_departments, find_users,
  find_tenants, tenants_with_unsealed_changes, tenants_with_new_changes, order_changes, has_unordered_changes,
  subtrees_with_new_changes, due_webhooks, mark_subtree_webhooks_due, login_name_hash, tenants_with_expired_logins,
  find_api_key, counters_to_lock, subtree_accounts, pooled_quotas_above, tenants_to_warn, quotas_below, usage_by_tenant,
  service_figures to :service;
