import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { Page } from 'playwright-core';
import { dateInDays } from '../support/calendar.ts';
import type { ConsoleFixture } from '../support/console.ts';
import type { Client, Service } from '../support/service.ts';
import { createDepartments, credentialsOf } from './departments-page.ts';

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

/** Moves the changes of a tenant three days into the past, with SQL: the database sets their times. */
const moveChangesBack = ({ superuser }: Service, { tenantId }: Client) =>
  superuser`update banyan.changes set time = time - interval '3 days' where tenant_id = ${tenantId}`;

/**
 * Creates the tenant 旧公司 with departments, and changes them three days later: the tenant and 旧总部 are renamed, 旧车间 is
 * deleted with everything below it, 新车间 is created. `day` is in between.
 */
export async function startPastChart({ service }: ConsoleFixture) {
  const admin = await service.createTenant({ tenantName: '旧公司' });
  const { top, plant } = await createDepartments(admin, {
    top: { deptName: '旧总部', leader: '王芳', orderNum: 1 },
    branch: { deptName: '分部', orderNum: 2 },
    plant: { parentRef: 'top', deptName: '旧车间' },
    line: { parentRef: 'plant', deptName: '旧产线' },
    shift: { parentRef: 'line', deptName: '旧班组' },
  });
  await admin.createUser({ userName: 'worker', deptId: top });
  await moveChangesBack(service, admin);
  const day = dateInDays(-1);
  const responses = [
    await service.root.patch(`/system/tenant-api/${admin.id}`, { tenantName: '新公司' }),
    await admin.patch(`/system/dept-api/${top}`, { deptName: '新总部' }),
    await admin.delete(`/system/dept-api/${plant}?subtree=true`),
  ];
  for (const { code, text } of responses) assert.equal(code, 200, text);
  const newPlant = await admin.createDepartment({ parentId: top, deptName: '新车间' });
  return { admin, newPlant, day };
}

/** Creates a tenant that had 60 departments on `day`, which are deleted now. */
export async function startLargePastChart({ service }: ConsoleFixture) {
  const admin = await service.createTenant();
  const departments = Array.from({ length: 60 }, (_, n) => ({ ref: `${n}`, deptName: `门店 ${n}`, orderNum: n }));
  const { data } = await admin.post('/system/dept-api/bulk', { departments });
  await moveChangesBack(service, admin);
  const day = dateInDays(-1);
  const { code, text } = await admin.delete(`/system/dept-api/${data.deptIds.join(',')}`);
  assert.equal(code, 200, text);
  return { admin, day };
}

export async function selectDay(page: Page, day: string): Promise<void> {
  await page.getByLabel('日期').fill(day);
  await page.getByLabel('日期').press('Enter');
  await page.waitForURL((url) => url.searchParams.get('day') === day);
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
