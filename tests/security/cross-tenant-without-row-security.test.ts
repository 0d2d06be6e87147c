import assert from 'node:assert/strict';
import { startService } from '../support/service.ts';
import { callStrangers } from './cross-tenant.ts';

/** Two locks on every door, and each must hold alone: here the database's own, row security, is taken off. */

const service = await startService();
const tables = await service.superuser<{ name: string }[]>`
  select relname as name from pg_class where relnamespace = 'banyan'::regnamespace and relrowsecurity`;
assert.ok(tables.length >= 6);
for (const { name } of tables) await service.superuser.unsafe(`alter table banyan.${name} disable row level security`);

await callStrangers(service, { onlyLoggedIn: true });
