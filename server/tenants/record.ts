import { CalendarDate, Int, Status, Text } from '../http/fields.ts';
import { TENANT_QUOTAS as QUOTAS } from '../quotas/schema.ts';
import { defineRecord, type StoredRow, type ValuesOf } from '../records/record.ts';

/** The keys of `ruleBo`, and then those of `quotaBo`: existing clients send them. The service does not interpret rules. */
export const RULES = ['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'] as const;
export { QUOTAS };
/** These quotas are stored, but reads do not return them. */
export const HIDDEN_QUOTAS = ['riskReportUsed', 'zr', 'credit', 'pf'] as const;

/** The one definition of a tenant's plain fields. Menus, quotas and rules are handled separately. */
export const tenant = defineRecord({
  tenantName: { column: 'tenant_name', type: 'text', schema: Text(100), default: null },
  startTime: { column: 'start_date', type: 'date', schema: CalendarDate, default: null },
  endTime: { column: 'end_date', type: 'date', schema: CalendarDate, default: null },
  contactUserName: { column: 'contact_user_name', type: 'text', schema: Text(50), default: null },
  contactPhone: { column: 'contact_phone', type: 'text', schema: Text(32), default: null },
  companyName: { column: 'company_name', type: 'text', schema: Text(100), default: null },
  status: { column: 'status', type: 'text', schema: Status, default: '0' as const },
  /** The maximum number of accounts; -1: no limit. */
  accountCount: { column: 'account_count', type: 'int', schema: Int({ minimum: -1 }), default: -1 },
});

export type TenantValues = ValuesOf<typeof tenant.fields>;

/** A tenant to be written. */
export type TenantFields = TenantValues & {
  menuIds: string[];
  quotas: Record<(typeof QUOTAS | typeof HIDDEN_QUOTAS)[number], number>;
  rules: Record<(typeof RULES)[number], string | null>;
};

export interface TenantRow extends TenantFields {
  id: string;
  tenantId: string;
  tenantParent: string | null;
}

/** A row of a list, which has rules only if the caller asked for them. */
export type ListedRow = Omit<TenantRow, 'rules'> & Partial<Pick<TenantRow, 'rules'>>;

/** Maps a row that the ledger recorded to a tenant. The id comes from the change, because JSON numbers would round it. */
export function fromStored(row: StoredRow, id: string, present?: TenantRow): TenantRow {
  const quotas = (row.quotas ?? {}) as Record<string, number>;
  const rules = (row.rules ?? {}) as Record<string, string>;
  return {
    id,
    tenantId: String(row.tenant_id),
    tenantParent: row.parent_id as string | null,
    ...tenant.fromStored(row, present),
    menuIds: (row.menu_ids as string[] | undefined) ?? [],
    quotas: Object.fromEntries(
      [...QUOTAS, ...HIDDEN_QUOTAS].map((key) => [key, quotas[key] ?? 0]),
    ) as TenantRow['quotas'],
    rules: Object.fromEntries(RULES.map((key) => [key, rules[key] ?? null])) as TenantRow['rules'],
  };
}
