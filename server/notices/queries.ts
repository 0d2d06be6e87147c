import type { Sql, Tx } from '../../db/driver.ts';

export interface QuotaNotice {
  tenant_id: string;
  quota: string;
  percent: number;
  total: number;
  used: number;
  resets: number;
}

export const insertQuotaNotices = (tx: Tx, tenantId: string, notices: QuotaNotice[]) =>
  tx`select record_quota_notices(${tenantId}, ${JSON.stringify(notices)}::text::json)`.execute();

/** The day of `now`, or today by the clock of the database, in the configured time zone. */
const dayOf = (sql: Sql | Tx, now: Date | undefined) =>
  sql`coalesce(${now?.toISOString() ?? null}::text::timestamptz, clock_timestamp())::date`;

export const tenantsToWarn = async (sql: Sql, now: Date | undefined, maxRows: number): Promise<string[]> => {
  const rows = await sql<{ tenantId: string }[]>`
    select tenant_id as "tenantId" from tenants_to_warn(${dayOf(sql, now)}, ${maxRows}) tenant_id`;
  return rows.map(({ tenantId }) => tenantId);
};

/** Records that the service period of a tenant ends soon, unless that is recorded already. */
export const insertEndNotice = (tx: Tx, tenantId: string, now: Date | undefined) => tx`
  insert into notices (tenant_id, end_date, days)
  select t.tenant_id, t.end_date, days_of_notice(t.end_date - ${dayOf(tx, now)}) from tenants t
  where t.tenant_id = ${tenantId} and t.del_flag = '0' and days_of_notice(t.end_date - ${dayOf(tx, now)}) is not null
  on conflict (tenant_id, end_date, days) where end_date is not null do nothing`;
