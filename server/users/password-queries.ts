import { bigintOf, type Tx } from '../../db/driver.ts';

export const updatePassword = (tx: Tx, tenantId: string, userId: string, passwordHash: string, by: string) => tx`
  update users set password_hash = ${passwordHash}, update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = ${bigintOf(userId)} and del_flag = '0'`;

/** Stores another hash of the same password. The ledger records no change, because the password stays the same. */
export const replaceHash = (
  tx: Tx,
  { tenantId, userId, passwordHash }: { tenantId: string; userId: string; passwordHash: string },
) => tx`
  with rehash as materialized (select set_config('banyan.rehash', 'on', true))
  update users set password_hash = ${passwordHash} from rehash
  where tenant_id = ${tenantId} and user_id = ${bigintOf(userId)}`;

/** Replaces an imported hash, if the stored one still has the given SHA-256 digest. Returns false otherwise. */
export const replaceHashByDigest = async (
  tx: Tx,
  row: { tenantId: string; userId: string; digestBefore: string; passwordHash: string; by: string },
): Promise<boolean> => {
  const rows = await tx`
    update users set password_hash = ${row.passwordHash}, update_by = ${row.by}, update_time = now()
    where tenant_id = ${row.tenantId} and user_id = ${bigintOf(row.userId)} and del_flag = '0'
      and encode(sha256(convert_to(password_hash, 'UTF8')), 'hex') = ${row.digestBefore}
    returning 1`;
  return rows.length > 0;
};

/** Replaces a user's password, if its hash is still `oldHash`. Returns false otherwise. */
export const replacePassword = async (
  tx: Tx,
  row: { tenantId: string; userId: string; oldHash: string; passwordHash: string; by: string },
): Promise<boolean> => {
  const rows = await tx`
    update users set password_hash = ${row.passwordHash}, must_change_password = false, update_by = ${row.by},
      update_time = now()
    where tenant_id = ${row.tenantId} and user_id = ${bigintOf(row.userId)} and del_flag = '0'
      and password_hash = ${row.oldHash}
    returning 1`;
  return rows.length > 0;
};

/** Reads the names of a user and of their tenant. */
export const readNames = async (tx: Tx, tenantId: string, userId: string): Promise<(string | null)[]> => {
  const [row] = await tx<Record<string, string | null>[]>`
    select u.user_name, u.nick_name, t.tenant_id, t.tenant_name, t.company_name
    from users u join tenants t on t.tenant_id = u.tenant_id
    where u.tenant_id = ${tenantId} and u.user_id = ${bigintOf(userId)}`;
  return Object.values(row ?? {});
};

/** Sets a new password and enables the user. */
export const recoverUser = (tx: Tx, tenantId: string, userId: string, passwordHash: string, by: string) => tx`
  update users set password_hash = ${passwordHash}, must_change_password = false, status = '0', update_by = ${by},
    update_time = now()
  where tenant_id = ${tenantId} and user_id = ${bigintOf(userId)} and del_flag = '0'`;
