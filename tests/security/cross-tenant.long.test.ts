// Only in the long run: cross-tenant-without-row-security.test.ts makes the same calls where row security hides no mistake of the code.
import { startService } from '../support/service.ts';
import { testCrossTenantAccess } from './cross-tenant.ts';

await testCrossTenantAccess(await startService());
