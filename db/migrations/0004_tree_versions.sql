-- Counts the moves of departments within a tenant. Only moves change the path of a department that exists, so a path
-- that was walked under one version is right for as long as that is the version (server/departments/paths.ts).
alter table tenants add column tree_version bigint not null default 0;
