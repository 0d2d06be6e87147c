import { bigintOf, type Tx } from '../../db/driver.ts';
import type { TenantState } from '../auth/tenant-state.ts';
import { quotaState, type StateRow } from '../quotas/rules.ts';
import type { Entitlements } from './schema.ts';

interface EntitlementRow extends Pick<Entitlements, 'tenantId' | 'tenantName' | 'startTime' | 'endTime' | 'ruleBo'> {
  state: TenantState;
  /** The state without regard to ancestors. */
  ownState: TenantState;
  menuIds: string[];
  user: (NonNullable<Entitlements['user']> & { administrator: boolean }) | null;
  quotas: StateRow[];
  /** The departments of the user with all of their ancestors, one row for each step from a department up. */
  steps: Step[];
}

export interface Step {
  /** The department of the user from which the path leads up. */
  start: number;
  main: boolean;
  status: '0' | '1';
  deptId: number;
  deptName: string;
}

/**
 * Reads what a tenant and one of its users are entitled to. The walk up the tree visits at most `maxSteps` rows: departments may
 * be thousands of levels deep.
 */
export const readEntitlementRow = async (tx: Tx, tenantId: string, userId: string | null, maxSteps: number) => {
  const [row] = await tx<EntitlementRow[]>`
    select t.tenant_id as "tenantId", t.tenant_name as "tenantName", to_char(t.start_date, 'YYYY-MM-DD') as "startTime",
      to_char(t.end_date, 'YYYY-MM-DD') as "endTime", t.menu_ids as "menuIds", t.rules as "ruleBo",
      tenant_state(t.tenant_id) as state,
      case
        when t.status <> '0' then 'disabled'
        when t.start_date > current_date then 'not started'
        when t.end_date < current_date then 'ended'
        else 'in service' end as "ownState",
      case when u.user_id is not null then json_build_object('userId', u.user_id, 'userName', u.user_name, 'status', u.status,
        'administrator', u.administrator) end as user,
      coalesce(p.steps, '[]') as steps,
      (select json_agg(q) from (${quotaState(tx, tenantId, undefined)}) q) as quotas
    from tenants t
    left join users u on u.tenant_id = ${tenantId} and u.user_id = ${userId === null ? null : bigintOf(userId)}::bigint
      and u.del_flag = '0'
    left join lateral (
      with recursive up as (
        select m.dept_id as start, m.main, d.status, d.dept_id, d.dept_name, d.parent_id, 0 as level
        from user_departments m
        join departments d on d.tenant_id = ${tenantId} and d.dept_id = m.dept_id
        where m.tenant_id = ${tenantId} and m.user_id = u.user_id
        union all
        select up.start, up.main, up.status, d.dept_id, d.dept_name, d.parent_id, up.level + 1
        from up cross join lateral (
          -- The limit makes the planner use the primary key.
          select dept_id, dept_name, parent_id from departments
          where tenant_id = ${tenantId} and dept_id = up.parent_id limit 1) d
      ), visited as (select * from up limit ${maxSteps})
      select json_agg(json_build_object('start', start, 'main', main, 'status', status, 'deptId', dept_id, 'deptName', dept_name)
        order by main desc, start, level desc) as steps
      from visited
    ) p on true
    where t.tenant_id = ${tenantId} and t.del_flag = '0'`;
  return row;
};
