import { bigintOf, type Tx } from '../../db/driver.ts';

/** Counts up to `max` users, so that creating a user in a large tenant does not count all of them; null: no maximum. */
export const countUsers = async (tx: Tx, tenantId: string, max: number | null): Promise<number> => {
  const [row] = await tx<[{ count: number }]>`
    select count(*) from (
      select from users where tenant_id = ${tenantId} and del_flag = '0' limit ${max}
    ) counted`;
  return row.count;
};

/** Counts the users of several tenants, which must be within the scope of the caller, by their codes. */
export const countUsersOf = async (tx: Tx, tenantIds: string[]): Promise<Map<string, number>> => {
  const rows = await tx<{ tenantId: string; accounts: number }[]>`
    select tenant_id as "tenantId", accounts from count_accounts(${tenantIds}::text[])`;
  return new Map(rows.map(({ tenantId, accounts }) => [tenantId, accounts]));
};

export const hasOtherAdministrator = async (tx: Tx, tenantId: string, exceptIds: string[]): Promise<boolean> => {
  const [row] = await tx<[{ found: boolean }]>`
    select exists (
      select from users where tenant_id = ${tenantId} and administrator and status = '0' and del_flag = '0'
        and user_id <> all(${exceptIds.map(bigintOf)}::bigint[])
    ) as found`;
  return row.found;
};

/** Reads the account limit and the names of a tenant. */
export const readTenantLimits = async (tx: Tx, tenantId: string) => {
  const [row] = await tx<[{ accountLimit: number; tenantName: string | null; companyName: string | null }]>`
    select account_count as "accountLimit", tenant_name as "tenantName", company_name as "companyName" from tenants
    where tenant_id = ${tenantId}`;
  return row;
};

export const listAdministrators = async (tx: Tx, tenantId: string, limit: number): Promise<string[]> => {
  const rows = await tx<{ userName: string }[]>`
    select user_name as "userName" from users
    where tenant_id = ${tenantId} and administrator and del_flag = '0' order by user_id limit ${limit}`;
  return rows.map(({ userName }) => userName);
};
