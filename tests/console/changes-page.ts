import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { ConsoleFixture } from '../support/console.ts';
import type { Client } from '../support/service.ts';
import { createDepartments, credentialsOf } from './departments-page.ts';

/** Helpers for tests of the audit log and of the diff. */

export const editDepartment = async (client: Client, id: number | string, changes: object) => {
  const { data } = await client.get(`/system/dept-api/${id}`);
  const { code } = await client.put('/system/dept-api', { ...data, ...changes });
  assert.equal(code, 200);
};

/** Returns the card of the diff screen with this heading. */
export const diffCard = (page: Page, name: RegExp) =>
  page.locator('.card').filter({ has: page.getByRole('heading', { name }) });
/** Returns the link to a created department. The name of its parent is plain text. */
export const createdLink = (page: Page, name: string) =>
  diffCard(page, /^新建/).getByRole('link', { name, exact: true });

/** Creates a company with departments. After `beforeEdits`, one department is moved, one renamed, one created and one deleted. */
export async function startChanges(fixture: ConsoleFixture) {
  const company = await fixture.service.createTenant({ tenantName: '榕树集团' });
  const { head, research, market, design, closed } = await createDepartments(company, {
    head: { deptName: '总部' },
    research: { parentRef: 'head', deptName: '研发部', leader: '兰' },
    market: { parentRef: 'head', deptName: '市场部' },
    design: { parentRef: 'market', deptName: '设计组' },
    closed: { parentRef: 'head', deptName: '筹备组' },
  });
  await company.createUser({ userName: 'lan', nickName: '兰', deptId: research });
  await company.createUser({ userName: 'plain', nickName: '普通人', deptId: market });
  await editDepartment(company, head, { orderNum: 7 });
  const beforeEdits = new Date().toISOString();
  await editDepartment(company, design, { parentId: research });
  await editDepartment(company, research, { deptName: '研究院', leader: '竹' });
  await company.createDepartment({ deptName: '客服部', parentId: head });
  await company.delete(`/system/dept-api/${closed}`);
  return { fixture, company, credentials: credentialsOf(company), research, design, beforeEdits };
}
