import type { Tx } from '../../db/driver.ts';

/** The source that the service stores with the ids of RuoYi. */
export const SOURCE = 'ruoyi';

export type Kind = 'department' | 'user';

/** The values of a record as the last run imported them. */
export type ImportedValues = Record<string, unknown>;

/** Reads the tenants that earlier runs created below `tenantId`, by their codes in RuoYi. */
export const readImportedTenants = async (tx: Tx, tenantId: string) => {
  const rows = await tx<{ externalId: string; code: string; id: string; importedValues: ImportedValues }[]>`
    select external_id as "externalId", child_code as code, child_id::text as id, imported_values as "importedValues" from imported_tenants
    where tenant_id = ${tenantId} and source = ${SOURCE}`;
  return new Map(rows.map(({ externalId, ...row }) => [externalId, row]));
};

export const insertImportedTenant = (
  tx: Tx,
  tenantId: string,
  { externalId, code, id, importedValues }: { externalId: string; code: string; id: string; importedValues: object },
) => tx`
  insert into imported_tenants (tenant_id, source, external_id, child_code, child_id, imported_values)
  values (${tenantId}, ${SOURCE}, ${externalId}, ${code}, ${id}::bigint, ${tx.json(importedValues as never)})`;

export const updateImportedTenant = (tx: Tx, tenantId: string, externalId: string, importedValues: object) => tx`
  update imported_tenants set imported_values = ${tx.json(importedValues as never)}
  where tenant_id = ${tenantId} and source = ${SOURCE} and external_id = ${externalId}`;

/** Reads what the last run imported of a tenant's departments or users, by their ids in RuoYi. */
export const readImportedValues = async (
  tx: Tx,
  tenantId: string,
  kind: Kind,
): Promise<Map<string, ImportedValues>> => {
  const rows = await tx<{ externalId: string; importedValues: ImportedValues }[]>`
    select external_id as "externalId", imported_values as "importedValues" from imported_records
    where tenant_id = ${tenantId} and source = ${SOURCE} and kind = ${kind}`;
  return new Map(rows.map(({ externalId, importedValues }) => [externalId, importedValues]));
};

/**
 * Stores the values of records. For existing records it keeps the values that this run left out, because a table is missing or
 * Banyan does not have the record that they refer to.
 */
export const storeImportedValues = async (
  tx: Tx,
  tenantId: string,
  kind: Kind,
  records: readonly { id: string; values: object }[],
  { areNew = false } = {},
): Promise<void> => {
  if (records.length === 0) return;
  // The values of a former record with the same id say nothing about a new one.
  const kept = areNew ? tx`'{}'::jsonb` : tx`imported_records.imported_values`;
  const sent = records.map(({ id, values }) => ({ external_id: id, imported_values: values }));
  await tx`
    insert into imported_records (tenant_id, source, kind, external_id, imported_values)
    select ${tenantId}, ${SOURCE}, ${kind}, s.external_id, s.imported_values
    from json_to_recordset(${JSON.stringify(sent)}::text::json) as s (external_id text, imported_values jsonb)
    on conflict (tenant_id, source, kind, external_id)
      do update set imported_values = ${kept} || excluded.imported_values`;
};
