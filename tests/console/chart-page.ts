import fs from 'node:fs';
import type { Page } from 'playwright-core';
import type { ConsoleFixture } from '../support/console.ts';
import { credentialsOf } from './departments-page.ts';

/** Helpers for tests of the organization chart. */

/**
 * Creates a tenant that has three levels of departments, leaders, users, a disabled department and a collapsed fourth level.
 */
export async function startChart(fixture: ConsoleFixture) {
  const admin = await fixture.service.createTenant({ tenantName: '云杉科技' });
  const branches: [string, string, string[]][] = [
    ['产品研发中心', '陈晓东', ['前端组', '后端组', '测试组', '架构组', '设计组']],
    ['市场与销售部', '李静', ['华东大区', '华南大区', '海外业务']],
    ['人力资源部', '周敏', ['招聘组', '培训与组织发展及企业文化建设工作组']],
    ['财务部', '吴磊', []],
  ];
  const departments = [
    { ref: 'top', deptName: '云杉科技有限公司', leader: '王建国' },
    ...branches.flatMap(([deptName, leader, groups], order) => [
      { ref: deptName, parentRef: 'top', deptName, leader, orderNum: order },
      ...groups.map((group, n) => ({ ref: group, parentRef: deptName, deptName: group, orderNum: n })),
    ]),
    { ref: '移动端小组', parentRef: '前端组', deptName: '移动端小组' },
    { ref: '旧系统组', parentRef: '人力资源部', deptName: '旧系统组', status: '1', orderNum: 9 },
  ];
  const { data } = await admin.post('/system/dept-api/bulk', { departments });
  const id = (ref: string) => data.deptIds[departments.findIndex((dept) => dept.ref === ref)];
  await Promise.all(['zhao', 'qian', 'sun'].map((userName) => admin.createUser({ userName, deptId: id('前端组') })));
  return { fixture, admin, credentials: credentialsOf(admin) };
}

export const cards = (page: Page) => page.getByRole('treeitem');
export const card = (page: Page, name: string) => page.getByRole('treeitem', { name, exact: false });
export const tree = (page: Page) => page.getByRole('tree');
export const percent = async (page: Page) => Number.parseInt(await page.locator('output').innerText(), 10);

export async function exportFile(page: Page, item: string) {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: '导出' }).click();
  await page.getByRole('menuitem', { name: item }).click();
  const file = await download;
  return { name: file.suggestedFilename(), content: fs.readFileSync(await file.path()) };
}
