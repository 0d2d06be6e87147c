import { randomBytes } from 'node:crypto';
import type { Database } from '../db/connect.ts';
import { writeInTenant } from '../db/tenancy.ts';
import { hashPassword, type PasswordCost } from './auth/passwords.ts';
import type { Config } from './config.ts';
import { createRootTenant, ROOT } from './tenants/tenants.ts';
import { createFirstAdministrator } from './users/users.ts';

export interface FirstAdministrator {
  userName: string;
  /** Undefined when the environment gave it. */
  generatedPassword: string | undefined;
}

/** Makes tenant 000000 and its administrator, once in the life of a database, whichever node comes first. */
export async function makeFirstAdministrator(
  db: Database,
  config: Config,
  passwordCost?: PasswordCost,
): Promise<FirstAdministrator | undefined> {
  const [there] = await writeInTenant(db, ROOT, (tx) => tx`select from tenants where tenant_id = ${ROOT}`);
  if (there) return undefined;
  const generatedPassword = config.adminPassword ? undefined : randomBytes(16).toString('base64url');
  const passwordHash = await hashPassword(config.adminPassword || (generatedPassword as string), passwordCost);
  const userName = config.adminUsername;
  const made = await writeInTenant(db, ROOT, async (tx) => {
    if (!(await createRootTenant(tx))) return false;
    await createFirstAdministrator(tx, { tenantId: ROOT, userName, passwordHash, by: 'system' });
    return true;
  });
  return made ? { userName, generatedPassword } : undefined;
}
