import type { Tx } from '../../db/driver.ts';

/** The source that the service stores with the ids of RuoYi. */
export const SOURCE = 'ruoyi';

export type Kind = 'department' | 'user';

/** The values of a record as the last run took them. */
export type Taken = Record<string, unknown>;

/** Reads the tenants that earlier runs made below `tenantId`, by their code in RuoYi. */
export const readImportedTenants = async (tx: Tx, tenantId: string) => {
  const rows = await tx<{ externalId: string; code: string; id: string; taken: Taken }[]>`
    select external_id as "externalId", child_code as code, child_id::text as id, taken from imported_tenants
    where tenant_id = ${tenantId} and source = ${SOURCE}`;
  return new Map(rows.map(({ externalId, ...row }) => [externalId, row]));
};

export const insertImportedTenant = (
  tx: Tx,
  tenantId: string,
  { externalId, code, id, taken }: { externalId: string; code: string; id: string; taken: object },
) => tx`
  insert into imported_tenants (tenant_id, source, external_id, child_code, child_id, taken)
  values (${tenantId}, ${SOURCE}, ${externalId}, ${code}, ${id}::bigint, ${tx.json(taken as never)})`;

export const updateImportedTenant = (tx: Tx, tenantId: string, externalId: string, taken: object) => tx`
  update imported_tenants set taken = ${tx.json(taken as never)}
  where tenant_id = ${tenantId} and source = ${SOURCE} and external_id = ${externalId}`;

/** Reads what the last run took of a tenant's departments or users, by their ids in RuoYi. */
export const readTaken = async (tx: Tx, tenantId: string, kind: Kind): Promise<Map<string, Taken>> => {
  const rows = await tx<{ externalId: string; taken: Taken }[]>`
    select external_id as "externalId", taken from imported_records
    where tenant_id = ${tenantId} and source = ${SOURCE} and kind = ${kind}`;
  return new Map(rows.map(({ externalId, taken }) => [externalId, taken]));
};

export const storeTaken = async (
  tx: Tx,
  tenantId: string,
  kind: Kind,
  records: readonly { id: string; values: object }[],
): Promise<void> => {
  if (records.length === 0) return;
  const sent = records.map(({ id, values }) => ({ external_id: id, taken: values }));
  await tx`
    insert into imported_records (tenant_id, source, kind, external_id, taken)
    select ${tenantId}, ${SOURCE}, ${kind}, s.external_id, s.taken
    from json_to_recordset(${JSON.stringify(sent)}::text::json) as s (external_id text, taken jsonb)
    on conflict (tenant_id, source, kind, external_id) do update set taken = excluded.taken`;
};
