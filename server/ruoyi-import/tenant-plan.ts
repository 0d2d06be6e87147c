import type { Findings } from './findings.ts';
import type { Row, Source } from './source.ts';
import { compareIds } from './tree.ts';
import { Values } from './values.ts';

/** The values of a tenant, as they are compared with those of the previous run. */
export interface TenantValues {
  tenantName: string | null;
  companyName: string | null;
  contactUserName: string | null;
  contactPhone: string | null;
  endTime: string | null;
  accountCount: number;
  status: '0' | '1';
  menuIds: string;
}

export interface PlannedTenant {
  /** The code in RuoYi, which departments and users refer to. */
  code: string;
  values: TenantValues;
}

const MAX_INT = 2_147_483_647;

/** Returns the tenants that are imported. The platform of RuoYi, 000000, is a tenant like the others. */
export function planTenants(source: Source, findings: Findings): PlannedTenant[] {
  const packages = new Map(source.sys_tenant_package.map((row) => [row.package_id, row]));
  const planned = new Map<string, PlannedTenant>();
  const rows = [...source.sys_tenant].sort((a, b) => compareIds(a.id ?? '', b.id ?? ''));
  for (const row of rows) {
    const code = row.tenant_id?.trim() ?? '';
    if (row.del_flag !== '0') findings.add('tenantDeleted', code, `tenant ${code}`, row.company_name ?? undefined);
    else if (code === '') findings.add('tenantUnknown', code, `tenant ${row.id}`, row.company_name ?? undefined);
    else if (planned.has(code)) findings.add('tenantRepeated', code, `tenant ${row.id}`, row.company_name ?? undefined);
    else planned.set(code, { code, values: valuesOf(code, row, packages, findings) });
  }
  reportWithoutTenant(source, planned, findings);
  return [...planned.values()];
}

function valuesOf(
  code: string,
  row: Row<'sys_tenant'>,
  packages: ReadonlyMap<string | null, Row<'sys_tenant_package'>>,
  findings: Findings,
): TenantValues {
  const values = new Values(findings, code, `tenant ${code}`);
  const bundle = packages.get(row.package_id);
  const hasPackage = row.package_id !== null && row.package_id !== '' && row.package_id !== '0';
  if (hasPackage && bundle?.del_flag !== '0') values.report('tenantPackage', `package ${row.package_id}`);
  for (const column of ['license_number', 'address', 'intro', 'domain', 'remark'] as const)
    if (row[column]?.trim()) values.report('noPlace', `${column}: ${row[column]}`);
  if (bundle?.del_flag === '0' && bundle.package_name) values.report('noPlace', `package: ${bundle.package_name}`);
  const companyName = values.text(row.company_name, 100);
  return {
    tenantName: companyName,
    companyName,
    contactUserName: values.text(row.contact_user_name, 50),
    contactPhone: values.text(row.contact_phone, 32),
    endTime: values.date(row.expire_time),
    accountCount: values.integer(row.account_count, { min: -1, max: MAX_INT, missing: -1 }),
    status: values.status(row.status),
    menuIds: bundle?.del_flag === '0' ? menusOf(bundle.menu_ids) : '',
  };
}

const menusOf = (menuIds: string | null): string => [...new Set(menuIds?.match(/\d+/g))].join(', ');

/** Reports how many departments and users belong to tenants that are not imported. */
function reportWithoutTenant(source: Source, planned: ReadonlyMap<string, PlannedTenant>, findings: Findings): void {
  const deleted = new Set(
    source.sys_tenant.flatMap(({ tenant_id, del_flag }) => (del_flag === '0' ? [] : [tenant_id?.trim() ?? ''])),
  );
  for (const [rows, name] of [
    [source.sys_dept, 'departments'],
    [source.sys_user, 'users'],
  ] as const) {
    const lost = new Map<string, number>();
    for (const { tenant_id } of rows) {
      const code = tenant_id?.trim() ?? '';
      if (!planned.has(code)) lost.set(code, (lost.get(code) ?? 0) + 1);
    }
    for (const [code, count] of lost)
      findings.add(deleted.has(code) ? 'tenantDeleted' : 'tenantUnknown', code, `${count} ${name}`);
  }
}
