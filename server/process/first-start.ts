import { randomBytes } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import { writeInTenant } from '../../db/tenant-scope.ts';
import { hashPassword, type PasswordCost } from '../auth/passwords.ts';
import type { Config } from '../config.ts';
import { createRootTenant, ROOT } from '../tenants/tenants.ts';
import { createFirstAdministrator } from '../users/users.ts';

export interface FirstAdministrator {
  userName: string;
  /** undefined if BANYAN_ADMIN_PASSWORD is set. */
  generatedPassword: string | undefined;
}

/**
 * Creates tenant 000000 and its administrator in a new database. Returns undefined if they exist, or if another node is
 * faster.
 */
export async function createFirstAdministratorOnce(
  db: Database,
  config: Config,
  passwordCost?: PasswordCost,
): Promise<FirstAdministrator | undefined> {
  const [existing] = await writeInTenant(db, ROOT, (tx) => tx`select from tenants where tenant_id = ${ROOT}`);
  if (existing) return undefined;
  const generatedPassword = config.adminPassword ? undefined : randomBytes(16).toString('base64url');
  const passwordHash = await hashPassword(config.adminPassword || (generatedPassword as string), passwordCost);
  const userName = config.adminUsername;
  const created = await writeInTenant(db, ROOT, async (tx) => {
    if (!(await createRootTenant(tx))) return false;
    await createFirstAdministrator(tx, { tenantId: ROOT, userName, passwordHash, by: 'system' });
    return true;
  });
  return created ? { userName, generatedPassword } : undefined;
}
