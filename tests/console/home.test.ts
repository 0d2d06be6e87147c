import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight } from '../support/calendar.ts';
import { expectAccessibleInLongRun, expectNoCspViolations, shareConsole } from '../support/console.ts';
import { startHome } from './home-page.ts';
import { holdMessage, undo } from './undo-message.ts';

await avoidMidnight();
const { fixture, credentials } = await startHome(await shareConsole());

test('the home screen shows counts, warns of expiring tenants and exhausted limits, and links to them', async () => {
  const page = await fixture.logIn(credentials);
  const numbers = page.getByRole('region', { name: '数据概览' });
  await numbers.getByRole('link', { name: '部门 4' }).waitFor();
  await numbers.getByRole('link', { name: '用户 4' }).waitFor();
  await numbers.getByRole('link', { name: '下级租户 3' }).waitFor();
  await numbers.getByRole('link', { name: '即将到期或已到期的租户 3' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: '快速开始' }).count(), 0);

  const accounts = page.getByRole('meter', { name: '用户名额' }).last();
  assert.equal(await accounts.getAttribute('aria-valuetext'), '4 / 5 即将用完');
  assert.equal(
    await page.getByRole('meter', { name: '风险评估表' }).getAttribute('aria-valuetext'),
    '85 / 100 即将用完',
  );
  await page.getByText('0 / 1,200').waitFor();

  const listItem = (name: string) => page.locator('.home-to-do').getByRole('listitem').filter({ hasText: name });
  await listItem('北京分公司').getByText('已到期 3 天').waitFor();
  await listItem('上海分公司').getByText('剩余 9 天').waitFor();
  await listItem('榕树集团').getByText('本租户').waitFor();
  await listItem('广州分公司').getByText('名额已用完').waitFor();
  await listItem('广州分公司').getByText('已用 1 / 1').waitFor();
  await listItem('广州分公司').getByText('无法再新建用户').waitFor();
  await expectAccessibleInLongRun(page);
  const measure = `[...document.querySelectorAll('.home-figure')]
    .map((figure) => figure.getBoundingClientRect())
    .map(({ top, width }) => [top, width].map(Math.round).join())`;
  const places = (await page.evaluate(measure)) as string[];
  assert.equal(new Set(places).size, 1, `the figures are in one row and have the same width: ${places.join(' ')}`);

  // Both problems can be fixed on this screen, and then disappear from the list.
  await page.getByRole('button', { name: '续期：北京分公司' }).click();
  const renewal = page.getByRole('dialog', { name: '为“北京分公司”续期' });
  await renewal.getByRole('button', { name: '续期' }).click();
  await holdMessage(page, '“北京分公司”已续期');
  await listItem('北京分公司').waitFor({ state: 'detached' });
  await undo(page, '“北京分公司”已续期');
  await page.getByRole('button', { name: '续期：北京分公司' }).click();
  await renewal.getByRole('button', { name: '续期' }).click();
  await listItem('北京分公司').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: '调整名额：广州分公司' }).click();
  const limit = page.getByRole('dialog', { name: '调整“广州分公司”的用户名额' });
  await limit.getByLabel('用户名额').fill('2');
  await limit.getByRole('button', { name: '保存' }).click();
  await listItem('广州分公司').waitFor({ state: 'detached' });
  await page.locator('.home-recent-changes').getByRole('listitem').first().getByText('广州分公司').waitFor();
  await numbers.getByRole('link', { name: '即将到期或已到期的租户 2' }).click();
  await page.getByText('共 2 个').waitFor();
  expectNoCspViolations(page);
});

test('the home screen of a member shows their own data, but neither usage nor a to-do list', async () => {
  const admin = await fixture.service.createTenant();
  const dept = await admin.createDepartment({ deptName: '成员部' });
  await admin.createUser({ userName: 'plain', nickName: '普通人', deptId: dept });
  const page = await fixture.logIn({ tenantId: admin.tenantId, username: 'plain' });
  await page.getByText('您好，普通人').waitFor();
  await page.getByRole('link', { name: '成员部' }).waitFor();
  await page.getByRole('link', { name: '部门 1' }).waitFor();
  for (const name of ['待处理', '用量']) assert.equal(await page.getByRole('heading', { name }).count(), 0, name);
  await expectAccessibleInLongRun(page);
  await page.getByRole('link', { name: '密码与登录设备' }).click();
  await page.getByRole('heading', { level: 1, name: '个人中心' }).waitFor();
});
