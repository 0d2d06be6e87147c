import type { Sql, Tx } from './driver.ts';
import { StartupError } from './startup-error.ts';
import { withMigrationLock } from './transaction.ts';

/**
 * Writes rows with past timestamps, for demonstration data. The ledger takes the time of a change from a setting of the
 * transaction (batch_time.sql). `create_time` and `update_time` of the rows come from the clock, so triggers replace them for as
 * long as the work runs. In a transaction that does not call `setTime`, the setting is empty or the time of its own first change.
 * So the triggers do no harm in a running service, even if a crash leaves them behind.
 */

const TABLES = ['tenants', 'departments', 'users', 'quotas', 'notices'];

/** Runs work whose transactions may call `setTime`, one run at a time. `owner` is the owner of the tables. */
export async function withBackdating<T>(owner: Sql, work: () => Promise<T>): Promise<T> {
  await withMigrationLock(owner, async (tx) => {
    const [{ exists }] = await tx<[{ exists: boolean }]>`
      select exists (select from pg_proc where proname = 'backdate' and pronamespace = 'banyan'::regnamespace)`;
    if (exists) {
      throw new StartupError(
        'This database is already being filled, or filling it was interrupted. Use a new data directory or database.',
      );
    }
    await tx.unsafe(`
      create function backdate() returns trigger language plpgsql set search_path = banyan, pg_temp as $$
      declare
        moment timestamptz := current_setting('banyan.batch_time')::timestamptz;
      begin
        if tg_op = 'INSERT' then new.create_time := moment;
        elsif new.update_time is distinct from old.update_time then new.update_time := moment;
        end if;
        return new;
      end $$`);
    for (const table of TABLES) {
      await tx.unsafe(`
        create trigger backdate before insert or update on ${table} for each row
        when (current_setting('banyan.batch_time', true) <> '') execute function backdate()`);
    }
  });
  try {
    return await work();
  } finally {
    await withMigrationLock(owner, (tx) => tx`drop function backdate() cascade`);
  }
}

/** Gives all changes of the transaction this time. It must be the first statement. */
export const setTime = (tx: Tx, time: Date) => tx`select set_config('banyan.batch_time', ${time.toISOString()}, true)`;
