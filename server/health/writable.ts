import type { Database } from '../../db/connect.ts';
import { writeOutsideTenants } from '../../db/tenant-scope.ts';

/**
 * Fails unless the database takes writes. A standby rejects the transaction. A primary accepts it even if its transactions are
 * read-only by default, as do all writes of the service, which state their mode.
 */
export const assertWritable = (db: Database) => writeOutsideTenants(db, (tx) => tx`select`);
