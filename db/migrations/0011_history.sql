-- What a record was at a moment is the `after` of its latest change until then. With the time in the index, the changes
-- that came later are passed over without a look at the table.
drop index changes_of_resource;
create index changes_of_resource on changes (tenant_id, resource, resource_id, change_id, time);
