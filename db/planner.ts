import type { Tx } from './driver.ts';

/**
 * Forces index scans for the rest of the transaction. The planner relies on statistics, and both these and cached plans may
 * date from a time when a table had a few rows; it would then scan a million rows for each step of a tree traversal.
 * Statements that rely on this look rows up as ranges (`id >= x and id <= x`) and in an order that only the right index has.
 */
export const forceIndexScans = (tx: Tx) =>
  tx`
    select set_config(name, value, true) from (values ('plan_cache_mode', 'force_custom_plan'), ('jit', 'off'),
      ('enable_seqscan', 'off'), ('enable_bitmapscan', 'off'), ('enable_sort', 'off')) as setting (name, value)`.execute();

/**
 * Plans each statement of the rest of the transaction with its parameters. Only then does PostgreSQL look values up in a long
 * list by their hash. A cached generic plan compares each row with the whole list: minutes for a hundred thousand of each.
 */
export const forceCustomPlans = (tx: Tx) =>
  tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`.execute();
