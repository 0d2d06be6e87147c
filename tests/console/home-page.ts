import { dateInDays } from '../support/calendar.ts';
import type { ConsoleFixture } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { createDepartments, credentialsOf } from './departments-page.ts';

/** Creates a company that has tenants below it, some of which have expired or have reached their user limit. */
export async function startHome(fixture: ConsoleFixture) {
  const company = await fixture.service.createTenant({
    tenantName: '榕树集团',
    endTime: dateInDays(40),
    accountCount: 5,
    quotaBo: { enterpriseQuery: 1200, riskReport: 100, riskReportUsed: 85 },
  });
  const { head } = await createDepartments(company, {
    head: { deptName: '总部' },
    research: { deptName: '研发部', parentRef: 'head' },
    market: { deptName: '市场部', parentRef: 'head' },
    finance: { deptName: '财务部', parentRef: 'head' },
  });
  const createChildTenant = (body: Record<string, unknown>) =>
    company.create('/system/tenant-api', { username: 'boss', password: PASSWORD, ...body });
  await Promise.all([
    ...['lan', 'zhu', 'ju'].map((userName) => company.createUser({ userName, deptId: head })),
    createChildTenant({ tenantName: '上海分公司', endTime: dateInDays(9), accountCount: 20 }),
    createChildTenant({ tenantName: '北京分公司', endTime: dateInDays(-3) }),
    createChildTenant({ tenantName: '广州分公司', endTime: dateInDays(200), accountCount: 1 }),
  ]);
  return { fixture, credentials: credentialsOf(company) };
}
