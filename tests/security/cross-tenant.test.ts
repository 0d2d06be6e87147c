import { startService } from '../support/service.ts';
import { testCrossTenantAccess } from './cross-tenant.ts';

await testCrossTenantAccess(await startService());
