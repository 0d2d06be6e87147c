import assert from 'node:assert/strict';
import { startService } from '../support/service.ts';
import { testActing } from './acting.ts';

/** The code alone must isolate tenants: these tests run with row-level security disabled. */

const service = await startService();
const tables = await service.superuser<{ name: string }[]>`
  select relname as name from pg_class where relnamespace = 'banyan'::regnamespace and relrowsecurity`;
assert.ok(tables.length >= 6);
for (const { name } of tables) await service.superuser.unsafe(`alter table banyan.${name} disable row level security`);

await testActing(service, 'without');
