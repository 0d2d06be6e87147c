import { startService } from '../support/service.ts';
import { callStrangers } from './cross-tenant.ts';

await callStrangers(await startService());
