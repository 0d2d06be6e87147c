// Only with test:long: cross-tenant-without-row-security.test.ts makes the same calls without row-level security, which could hide a mistake in the code.
import { startService } from '../support/service.ts';
import { testCrossTenantAccess } from './cross-tenant.ts';

await testCrossTenantAccess(await startService());
