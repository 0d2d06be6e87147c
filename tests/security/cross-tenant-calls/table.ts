import { accountCalls } from './account.ts';
import { deletionCalls } from './deletions.ts';
import { departmentCalls } from './departments.ts';
import { fileCalls } from './files.ts';
import { quotaCalls } from './quotas.ts';
import type { Row } from './target.ts';
import { tenantCalls } from './tenants.ts';
import { userCalls } from './users.ts';
import { webhookAndKeyCalls } from './webhooks-and-keys.ts';

/**
 * Calls of every operation that has no test of its own. Deletions come last, because the administrator of the tenant
 * really performs each operation after the others have tried it.
 */
export const table: Row[] = [
  ...quotaCalls,
  ...departmentCalls,
  ...tenantCalls,
  ...fileCalls,
  ...userCalls,
  ...accountCalls,
  ...webhookAndKeyCalls,
  ...deletionCalls,
];
