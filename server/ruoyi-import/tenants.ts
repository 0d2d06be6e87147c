import type { Database } from '../../db/connect.ts';
import { ROOT_TENANT, readInTenant, writeInTenant } from '../../db/tenant-scope.ts';
import { lockTenantTree } from '../access/tenant-scope.ts';
import { type Caller, operatorOf } from '../auth/caller.ts';
import { readTenantState } from '../auth/tenant-state.ts';
import { createTenant, patchTenant, readTenant } from '../tenants/tenants.ts';
import { changedKeys } from './changes.ts';
import { type ImportedValues, insertImportedTenant, readImportedTenants, updateImportedTenant } from './queries.ts';
import type { PlannedTenant, TenantValues } from './tenant-plan.ts';

/** The author that the ledger records instead of a user name. */
export const importer: Caller = operatorOf(ROOT_TENANT, 'RuoYi import');

/** The format of Banyan's codes. */
const CODE = /^[0-9]{6,18}$/;
const isUsableCode = (code: string): boolean => CODE.test(code) && code !== ROOT_TENANT;

/** A tenant of Banyan that a tenant of RuoYi was imported into. */
export interface ImportedTenant {
  code: string;
  id: string;
  importedValues: ImportedValues;
}

export const readTenants = (db: Database): Promise<Map<string, ImportedTenant>> =>
  readInTenant(db, ROOT_TENANT, (tx) => readImportedTenants(tx, ROOT_TENANT));

export const isDeleted = async (db: Database, code: string): Promise<boolean> => {
  const state = await readInTenant(db, ROOT_TENANT, (tx) => readTenantState(tx, code));
  return state === 'deleted' || state === 'unknown';
};

/** Whether a tenant that is created now would keep its code. Codes of deleted tenants are never used again. */
export const isCodeFree = async (db: Database, code: string): Promise<boolean> =>
  isUsableCode(code) && (await readInTenant(db, ROOT_TENANT, (tx) => readTenantState(tx, code))) === 'unknown';

/** Whether the database has been set up by a first start of the service. */
export const hasRoot = async (db: Database): Promise<boolean> => !(await isDeleted(db, ROOT_TENANT));

const inputOf = ({ menuIds, ...values }: TenantValues) => ({ ...values, packageBo: { menuIds } });

/** Creates a tenant, or returns it if another run has created it at the same moment. */
export const createOnce = (
  db: Database,
  { code: externalId, values }: PlannedTenant,
  maxLevels: number,
): Promise<ImportedTenant> =>
  writeInTenant(db, ROOT_TENANT, async (tx) => {
    // Look after locking: another run may have created the tenant while we waited.
    await lockTenantTree(tx);
    const existing = (await readImportedTenants(tx, ROOT_TENANT)).get(externalId);
    if (existing) return existing;
    const preferred = isUsableCode(externalId) ? { preferredCode: externalId } : {};
    const id = await createTenant(tx, importer, inputOf(values), { password: undefined, maxLevels, ...preferred });
    const { data } = await readTenant(tx, importer, id);
    await insertImportedTenant(tx, ROOT_TENANT, { externalId, code: data.tenantId, id, importedValues: values });
    return { code: data.tenantId, id, importedValues: { ...values } };
  });

/** Changes the fields of a tenant that have changed in RuoYi. */
export const updateTenant = (
  db: Database,
  { code: externalId, values }: PlannedTenant,
  { id, importedValues }: ImportedTenant,
  maxLevels: number,
): Promise<void> =>
  writeInTenant(db, ROOT_TENANT, async (tx) => {
    const changed = new Set(changedKeys(values, importedValues));
    const input = Object.entries(inputOf(values)).filter(([key]) => changed.has(key === 'packageBo' ? 'menuIds' : key));
    await patchTenant(tx, importer, id, Object.fromEntries(input), { ifMatch: undefined, maxLevels });
    await updateImportedTenant(tx, ROOT_TENANT, externalId, values);
  });
