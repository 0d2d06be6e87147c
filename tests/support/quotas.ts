import assert from 'node:assert/strict';
import type { Sql } from '../../db/driver.ts';
import { begin } from '../../db/transaction.ts';
import { insertUses as insertRows, type NewUse, nextIds } from '../../server/quotas/queries.ts';

/** Uses of quotas in the database. */

type Use = Pick<NewUse, 'quota' | 'amount' | 'time'> & Partial<NewUse>;

/**
 * Inserts uses with the statement of the service, which updates the sums but no counters. The days of the uses are those of
 * the default time zone.
 */
export const insertUses = (superuser: Sql, tenantId: string, uses: Use[]): Promise<void> =>
  begin(
    superuser,
    async (tx) => {
      await tx`select set_config('TimeZone', 'Asia/Shanghai', true)`;
      const ids = await nextIds(tx, uses.length);
      const defaults = { subject: null, user_id: null, key_id: null, counted: { [tenantId]: 0 } };
      const rows = uses.map((use, n) => ({
        ...defaults,
        actor_tenant_id: tenantId,
        use_id: ids[n] as number,
        ...use,
      }));
      await insertRows(tx, tenantId, rows);
    },
    'isolation level read committed read write',
  );

/** Asserts that the stored sums are those of the uses that were not refunded, including archived ones. */
export async function assertSums(superuser: Sql): Promise<void> {
  const wrong = await superuser`
    with uses as (
      select u.*, array(select jsonb_object_keys(u.counted) order by 1) as counted_by
      from (select * from banyan.quota_uses union all select * from banyan.quota_uses_archive) u where u.refund_time is null
    ), expected as (
      select tenant_id, quota, day, counted_by::text as grouped, sum(amount) as amount, count(*) as uses
      from uses group by 1, 2, 3, 4
      union all
      select tenant_id, quota, day,
        concat_ws(' ', coalesce(user_id, 0), coalesce(key_id, 0), coalesce(dept_id, 0), actor_tenant_id), sum(amount), count(*)
      from uses group by 1, 2, 3, 4
    ), stored as (
      select tenant_id, quota, day, counted_by::text as grouped, amount, uses from banyan.quota_sums
      where uses > 0 or amount > 0
      union all
      select tenant_id, quota, day, concat_ws(' ', user_id, key_id, dept_id, actor_tenant_id), amount, uses
      from banyan.quota_caller_sums where uses > 0 or amount > 0
    )
    select 'missing' as what, m.* from (select * from expected except select * from stored) m
    union all
    select 'wrong', w.* from (select * from stored except select * from expected) w`;
  assert.deepEqual([...wrong], []);
}
