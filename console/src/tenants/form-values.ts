import type { Tenant, TenantInput, TenantUpdate } from '../api.ts';
import type { FieldTexts } from './field-texts.ts';

// The schema of the service has these lists too, but the console imports no code from the service.
export const RULES = ['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'] as const;
export const QUOTAS = [
  'enterpriseQuery',
  'annualReportQuery',
  'chainReport',
  'businessReport',
  'riskReport',
  'merchant',
] as const;

export type Rule = (typeof RULES)[number];
export type Quota = (typeof QUOTAS)[number];

const TEXT_FIELDS = ['tenantName', 'companyName', 'contactUserName', 'contactPhone'] as const;

/** The values of the tenant forms. They are plain JSON, so that a draft can be restored after a reload. */
export interface TenantValues {
  tenantName: string;
  companyName: string;
  contactUserName: string;
  contactPhone: string;
  tenantParent: string | null;
  startTime: string | null;
  endTime: string | null;
  status: '0' | '1';
  unlimited: boolean;
  accountCount: number | null;
  menuIds: string[];
  quotas: Partial<Record<Quota, number | null>>;
  rules: Partial<Record<Rule, string>>;
}

export const emptyValues = (tenantParent: string): TenantValues => ({
  tenantName: '',
  companyName: '',
  contactUserName: '',
  contactPhone: '',
  tenantParent,
  startTime: null,
  endTime: null,
  status: '0',
  unlimited: true,
  accountCount: null,
  menuIds: [],
  quotas: Object.fromEntries(QUOTAS.map((key) => [key, 0])),
  rules: {},
});

export const toFormValues = (tenant: Tenant): TenantValues => ({
  tenantName: tenant.tenantName ?? '',
  companyName: tenant.companyName ?? '',
  contactUserName: tenant.contactUserName ?? '',
  contactPhone: tenant.contactPhone ?? '',
  tenantParent: tenant.tenantParent,
  startTime: tenant.startTime,
  endTime: tenant.endTime,
  status: tenant.status,
  unlimited: tenant.accountCount === -1,
  accountCount: tenant.accountCount === -1 ? null : tenant.accountCount,
  menuIds: getMenuIds(tenant),
  quotas: tenant.quotaBo,
  rules: Object.fromEntries(RULES.map((key) => [key, tenant.ruleBo[key] ?? ''])),
});

export const getMenuIds = ({ packageBo }: Tenant) => packageBo.menuIds.match(/\d+/g) ?? [];

/**
 * Returns all fields, because the service replaces the whole record. The quotas that its responses leave out are not
 * needed: the service keeps them.
 */
export function toInput(values: TenantValues): TenantInput {
  return {
    ...Object.fromEntries(TEXT_FIELDS.map((key) => [key, values[key]?.trim() || null])),
    tenantParent: values.tenantParent,
    startTime: values.startTime,
    endTime: values.endTime,
    status: values.status,
    accountCount: values.unlimited ? -1 : (values.accountCount ?? -1),
    packageBo: { menuIds: values.menuIds.join(',') },
    quotaBo: Object.fromEntries(QUOTAS.map((key) => [key, values.quotas?.[key] ?? 0])),
    ruleBo: Object.fromEntries(RULES.map((key) => [key, values.rules?.[key] || null])),
  };
}

export const toUpdate = (id: string, values: TenantValues): TenantUpdate => ({ id, ...toInput(values) });

interface DisplayOptions {
  t: FieldTexts;
  /** The names of parents by code. */
  names: ReadonlyMap<string, string>;
}

/** The fields that differ, with labels and display values. */
export function compareValues(theirs: Tenant, mine: TenantValues, options: DisplayOptions) {
  const [theirFields, myFields] = [toDisplayFields(toFormValues(theirs), options), toDisplayFields(mine, options)];
  return theirFields
    .map(({ field, value }, index) => ({ field, theirs: value, mine: myFields[index]?.value ?? '' }))
    .filter((conflict) => conflict.theirs !== conflict.mine)
    .map(({ field, theirs, mine }) => ({ field, theirs: truncate(theirs) || '—', mine: truncate(mine) || '—' }));
}

function toDisplayFields(values: TenantValues, { t, names }: DisplayOptions): { field: string; value: string }[] {
  const accounts = values.unlimited ? t.unlimited : String(values.accountCount ?? '');
  return [
    ...TEXT_FIELDS.map((key) => ({ field: t[key], value: values[key]?.trim() ?? '' })),
    { field: t.tenantParent, value: formatParent(values.tenantParent ?? '', names) },
    { field: t.startTime, value: values.startTime ?? '' },
    { field: t.endTime, value: values.endTime ?? '' },
    { field: t.status, value: values.status === '0' ? t.normal : t.disabled },
    { field: t.accountCount, value: accounts },
    { field: t.menuIds, value: values.menuIds.join(', ') },
    ...QUOTAS.map((key) => ({ field: t[key], value: String(values.quotas?.[key] ?? 0) })),
    ...RULES.map((key) => ({ field: t[key], value: values.rules?.[key] ?? '' })),
  ];
}

/** The name, and the code as in the field where the parent is selected: different tenants can have the same name. */
const formatParent = (code: string, names: ReadonlyMap<string, string>) => `${names.get(code) ?? ''} ${code}`.trim();

const truncate = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
