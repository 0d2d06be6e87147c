import type { Tenant, TenantInput, TenantUpdate } from '../api.ts';
import type { FieldTexts } from './field-texts.ts';

/** A tenant as the forms hold it: what JSON can keep, so that a draft is the same after a reload. */

// The schema of the service has these lists too, but its code stays out of the browser.
export const RULES = ['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'] as const;
export const QUOTAS = [
  'enterpriseQuery',
  'annualReportQuery',
  'chainReport',
  'businessReport',
  'riskReport',
  'merchant',
] as const;
/** Taken by every write, shown by no read. */
export const HIDDEN_QUOTAS = ['riskReportUsed', 'zr', 'credit', 'pf'] as const;

export type Rule = (typeof RULES)[number];
export type ShownQuota = (typeof QUOTAS)[number];
export type HiddenQuota = (typeof HIDDEN_QUOTAS)[number];

const TEXTS = ['tenantName', 'companyName', 'contactUserName', 'contactPhone'] as const;

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
  quotas: Partial<Record<ShownQuota | HiddenQuota, number | null>>;
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

export const valuesOf = (tenant: Tenant): TenantValues => ({
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
  menuIds: menusOf(tenant),
  // Spelled out, so that putting theirs into a form also empties what nobody can know.
  quotas: { ...tenant.quotaBo, riskReportUsed: null, zr: null, credit: null, pf: null },
  rules: Object.fromEntries(RULES.map((key) => [key, tenant.ruleBo[key] ?? ''])),
});

export const menusOf = ({ packageBo }: Tenant) => packageBo.menuIds.match(/\d+/g) ?? [];

/** All of it, every time: the service replaces the whole record. */
export function inputOf(values: TenantValues): TenantInput {
  return {
    ...Object.fromEntries(TEXTS.map((key) => [key, values[key]?.trim() || null])),
    tenantParent: values.tenantParent,
    startTime: values.startTime,
    endTime: values.endTime,
    status: values.status,
    accountCount: values.unlimited ? -1 : (values.accountCount ?? -1),
    packageBo: { menuIds: values.menuIds.join(',') },
    quotaBo: Object.fromEntries([...QUOTAS, ...HIDDEN_QUOTAS].map((key) => [key, values.quotas?.[key] ?? 0])),
    ruleBo: Object.fromEntries(RULES.map((key) => [key, values.rules?.[key] || null])),
  };
}

export const updateOf = (id: string, values: TenantValues): TenantUpdate => ({ id, ...inputOf(values) });

/** Where theirs is not mine, as people read it. */
export function differencesOf(theirs: Tenant, mine: TenantValues, t: FieldTexts) {
  const [a, b] = [readable(valuesOf(theirs), t), readable(mine, t)];
  return a
    .map(({ field, value }, at) => ({ field, theirs: value, mine: b[at]?.value ?? '' }))
    .filter((one) => one.theirs !== one.mine)
    .map(({ field, theirs, mine }) => ({ field, theirs: short(theirs) || '—', mine: short(mine) || '—' }));
}

function readable(values: TenantValues, t: FieldTexts): { field: string; value: string }[] {
  const accounts = values.unlimited ? t.unlimited : String(values.accountCount ?? '');
  return [
    ...TEXTS.map((key) => ({ field: t[key], value: values[key]?.trim() ?? '' })),
    { field: t.tenantParent, value: values.tenantParent ?? '' },
    { field: t.startTime, value: values.startTime ?? '' },
    { field: t.endTime, value: values.endTime ?? '' },
    { field: t.status, value: values.status === '0' ? t.normal : t.disabled },
    { field: t.accountCount, value: accounts },
    { field: t.menuIds, value: values.menuIds.join(', ') },
    ...QUOTAS.map((key) => ({ field: t[key], value: String(values.quotas?.[key] ?? 0) })),
    ...RULES.map((key) => ({ field: t[key], value: values.rules?.[key] ?? '' })),
  ];
}

const short = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
