import { dateInDays } from '../support/calendar.ts';
import { startConsole } from '../support/console.ts';

/** Quotas that reads do not return. */
export const HIDDEN_QUOTAS = { riskReportUsed: 40, zr: 3, credit: 12, pf: 1 };

/** Starts the console with a small group of companies. Returns helpers for tests of the Tenants screens. */
export async function startTenants() {
  const fixture = await startConsole();
  const { root, superuser } = fixture.service;
  const page = await fixture.sharedPage();
  const createTenant = (body: Record<string, unknown>) => root.create('/system/tenant-api', body);
  const readTenant = async (id: string) => (await root.get(`/system/tenant-api/${id}`)).data;

  const group = await createTenant({
    tenantName: '榕树集团',
    companyName: '榕树集团有限公司',
    startTime: dateInDays(-400),
    endTime: dateInDays(700),
    contactUserName: '陈立',
    accountCount: 200,
    packageBo: { menuIds: '100,101,102' },
    quotaBo: { enterpriseQuery: 5000, riskReport: 300, ...HIDDEN_QUOTAS },
    ruleBo: { modelZr: '{"min": 3, "max": 9}', catalogRw: '连续三个月逾期即预警' },
  });
  const { tenantId: groupCode } = await readTenant(group);
  const south = await createTenant({
    tenantName: '华南分公司',
    tenantParent: groupCode,
    startTime: dateInDays(-200),
    endTime: dateInDays(21),
  });
  const north = await createTenant({
    tenantName: '华北分公司',
    tenantParent: groupCode,
    startTime: dateInDays(30),
    endTime: dateInDays(395),
  });
  await createTenant({ tenantName: '西部合作方', startTime: dateInDays(-500), endTime: dateInDays(-12), status: '1' });
  await createTenant({ tenantName: '已到期分部', tenantParent: groupCode, endTime: dateInDays(-3) });
  await createTenant({ tenantName: '停用分部', tenantParent: groupCode, endTime: dateInDays(40), status: '1' });

  const storedQuotas = async (code: string) => {
    const [row] = await superuser<[{ quotas: typeof HIDDEN_QUOTAS }]>`
      select quotas from banyan.tenants where tenant_id = ${code}`;
    const { riskReportUsed, zr, credit, pf } = row.quotas;
    return { riskReportUsed, zr, credit, pf };
  };
  const chooseAction = async (name: string) => {
    await page.getByRole('button', { name: /^更多操作/ }).click();
    await page.getByRole('menuitem', { name, exact: true }).click();
  };
  return { fixture, root, page, createTenant, readTenant, group, groupCode, south, north, storedQuotas, chooseAction };
}
