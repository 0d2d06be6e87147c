import { randomBytes } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import { StartupError } from '../../db/startup-error.ts';
import { ROOT_TENANT, writeInTenant } from '../../db/tenant-scope.ts';
import { hashNewPassword } from '../auth/password-policy.ts';
import { hashPassword, type PasswordCost } from '../auth/passwords.ts';
import type { Config } from '../config.ts';
import { ApiError } from '../http/errors.ts';
import { createRootTenant } from '../tenants/tenants.ts';
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
  // Except for lengths, the rules for names and passwords are checked only here, not with the settings: an installation
  // whose administrator does not follow them must still start.
  return create(db, config, passwordCost).catch((error) => {
    throw error instanceof ApiError ? new StartupError(error.text('en')) : error;
  });
}

const SETTINGS = { userName: 'BANYAN_ADMIN_USERNAME', password: 'BANYAN_ADMIN_PASSWORD' };

async function create(
  db: Database,
  config: Config,
  passwordCost: PasswordCost | undefined,
): Promise<FirstAdministrator | undefined> {
  const [existing] = await writeInTenant(
    db,
    ROOT_TENANT,
    (tx) => tx`select from tenants where tenant_id = ${ROOT_TENANT}`,
  );
  if (existing) return undefined;
  const generatedPassword = config.adminPassword ? undefined : randomBytes(16).toString('base64url');
  const text = config.adminPassword || (generatedPassword as string);
  const password = await hashNewPassword((each) => hashPassword(each, passwordCost), text, SETTINGS.password);
  const userName = config.adminUsername;
  const created = await writeInTenant(db, ROOT_TENANT, async (tx) => {
    if (!(await createRootTenant(tx))) return false;
    const first = { tenantId: ROOT_TENANT, userName, password, mustChangePassword: false, by: 'system' };
    await createFirstAdministrator(tx, first, SETTINGS);
    return true;
  });
  return created ? { userName, generatedPassword } : undefined;
}
