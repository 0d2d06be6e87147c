import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/driver.ts';
import { readInTenant } from '../../db/tenant-scope.ts';
import { readDepartmentsOfSource } from '../departments/members.ts';
import { readUsersForImport } from '../users/reads.ts';
import { readImportedValues, SOURCE } from './queries.ts';

/** What Banyan has of one tenant, and what the last run imported. */
export type State = Awaited<ReturnType<typeof readStateIn>>;

export const readState = (db: Database, tenantId: string): Promise<State> =>
  readInTenant(db, tenantId, (tx) => readStateIn(tx, tenantId));

async function readStateIn(tx: Tx, tenantId: string) {
  const departments = [...(await readDepartmentsOfSource(tx, tenantId, SOURCE))];
  const users = await readUsersForImport(tx, tenantId, SOURCE);
  return {
    departments,
    users: users.flatMap(({ externalId, ...user }) => (externalId === null ? [] : [{ ...user, externalId }])),
    /** The names of all existing users, with their ids in RuoYi; null: created in Banyan. */
    names: users.filter(({ isDeleted }) => !isDeleted),
    importedValues: {
      department: await readImportedValues(tx, tenantId, 'department'),
      user: await readImportedValues(tx, tenantId, 'user'),
    },
  };
}

export const EMPTY_STATE: State = {
  ...{ departments: [], users: [], names: [] },
  importedValues: { department: new Map(), user: new Map() },
};
