import { startService } from '../support/service.ts';
import { testActing } from './acting.ts';

await testActing(await startService(), 'with');
