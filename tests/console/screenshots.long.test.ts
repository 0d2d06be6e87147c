// Only with test:long: it opens the screens of the README's screenshots with the demonstration data; other files cover what these screens do.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Database } from '../../db/connect.ts';
import { fillWithDemoData } from '../../server/demo/fill.ts';
import {
  expectAccessibleInLongRun,
  expectNoCspViolations,
  type PageSettings,
  PHONE,
  screenshot,
  startConsole,
  waitForEffects,
} from '../support/console.ts';
import { CHEAP_HASH } from '../support/database.ts';

/**
 * The screens that the README shows, with the demonstration data. With BANYAN_SCREENSHOTS=1 this file takes the screenshots
 * again. The data has a fixed seed. Its dates follow the day of the run, because the service compares them with the database's
 * clock.
 */

let db: Database | undefined;
const fixture = await startConsole({}, { wrapDatabase: (opened) => (db = opened) });
const { service } = fixture;
const { logins, password } = await fillWithDemoData(
  { db: db as unknown as Database, owner: service.owner },
  {
    ...{ language: 'zh', limits: { maxLevels: 100, tenantLevels: 100 }, now: new Date(), passwordCost: CHEAP_HASH },
    progress: () => {},
  },
);
const [{ tenantId, userName: username }] = logins as [(typeof logins)[number]];
const credentials = { tenantId, username, password };
const admin = await service.logIn(tenantId, username, password);
const tenantOf = (name: string) => logins.find(({ tenantName }) => tenantName.includes(name))?.tenantId ?? '';
const { data: found } = await admin.get(`/system/dept-api/list?deptName=${encodeURIComponent('信息技术中心')}`);
const technology: number = found.rows[0].deptId;
/** The user with the longest history. */
const [{ person } = { person: '' }] = await service.superuser<{ person: string }[]>`
  select c.resource_id as person from banyan.changes c join banyan.users u on u.tenant_id = c.tenant_id
    and u.user_id = c.resource_id and u.del_flag = '0' and u.user_name <> ${username}
  where c.tenant_id = ${tenantId} and c.resource = 'user' group by 1 order by count(*) desc, 1 limit 1`;
const twoMonthsAgo = new Date(Date.now() - 60 * 86_400_000).toISOString();

interface Screenshot {
  path: string;
  settings?: PageSettings;
  /** Performs the actions whose result the screenshot shows, and waits until the screen is complete. */
  complete(page: Page): Promise<unknown>;
}

const SCREENSHOTS: Record<string, Screenshot> = {
  home: { path: '/home', complete: (page) => page.getByText('榕华零售南京加盟店').first().waitFor() },
  departments: {
    path: `/departments/${technology}`,
    complete: (page) => page.getByRole('region', { name: '成员' }).getByRole('link').first().waitFor(),
  },
  person: {
    path: `/people/${person}`,
    complete: (page) => page.getByRole('list', { name: '变更历史' }).getByRole('listitem').first().waitFor(),
  },
  search: {
    path: '/home',
    complete: async (page) => {
      await waitForEffects(page);
      await page.keyboard.press('Control+K');
      await page.getByRole('dialog').getByRole('combobox').fill('wenjie');
      await page.getByRole('option', { name: '谢文杰' }).waitFor();
    },
  },
  chart: {
    path: `/chart/${technology}`,
    complete: (page) => page.getByRole('treeitem', { name: '主数据组' }).waitFor(),
  },
  people: {
    path: '/people',
    complete: async (page) => {
      for (const n of [1, 2, 3])
        await page
          .getByRole('checkbox', { name: /^选择 / })
          .nth(n)
          .check();
      await page.getByText('已选择 3 项').waitFor();
    },
  },
  tenants: { path: '/tenants', complete: (page) => page.getByText('榕华国际（新加坡）').first().waitFor() },
  'tenants-timeline': {
    path: '/tenants',
    complete: async (page) => {
      await page.getByText('时间线', { exact: true }).click();
      await page
        .getByRole('list', { name: '时间线' })
        .getByText(/已到期 \d+ 天/)
        .first()
        .waitFor();
    },
  },
  changes: {
    // Without a filter, the logins of these tests would fill the first page.
    path: '/changes?resource=department',
    complete: async (page) => {
      await page.getByRole('button', { name: /^详情/ }).first().click();
      await page.getByRole('region', { name: '变更' }).getByRole('row').first().waitFor();
    },
  },
  'changes-diff': {
    path: `/changes/diff?from=${twoMonthsAgo}`,
    complete: (page) => page.getByRole('heading', { name: /^新建（\d+）/ }).waitFor(),
  },
  quota: {
    path: `/quotas/enterpriseQuery?days=90&tenantId=${tenantOf('榕华数科')}`,
    complete: async (page) => {
      await page.getByRole('img', { name: /用量曲线/ }).waitFor();
      await page.locator('.quotas-uses li').first().waitFor();
    },
  },
  'quotas-below': {
    path: '/quotas?view=below',
    complete: (page) => page.locator('tbody tr.ant-table-row').first().waitFor(),
  },
};

const dark: PageSettings = { viewport: PHONE, dark: true };
const PHONE_SCREENSHOTS: Record<string, Screenshot> = {
  'departments-phone': { ...(SCREENSHOTS.departments as Screenshot), settings: { viewport: PHONE } },
  'people-phone': {
    path: '/people',
    settings: { viewport: PHONE },
    complete: (page) => page.getByRole('list').getByRole('link').first().waitFor(),
  },
  'home-dark-phone': {
    path: '/home',
    settings: { ...dark, language: 'en' },
    complete: (page) => page.getByText('榕华零售南京加盟店').first().waitFor(),
  },
  'tenants-phone-dark': { ...(SCREENSHOTS.tenants as Screenshot), settings: dark },
  'chart-phone': { ...(SCREENSHOTS.chart as Screenshot), settings: { viewport: PHONE, language: 'en' } },
};

test('the README files show these screenshots, and there are no others', () => {
  const names = [...Object.keys(SCREENSHOTS), ...Object.keys(PHONE_SCREENSHOTS)].sort();
  const files = fs.readdirSync('docs/screenshots').map((file) => file.replace(/\.png$/, ''));
  assert.deepEqual(files.sort(), names);
  for (const readme of ['README.md', 'README.zh-CN.md']) {
    const shown = [...fs.readFileSync(readme, 'utf8').matchAll(/docs\/screenshots\/([\w-]+)\.png/g)];
    assert.deepEqual(shown.map(([, name]) => name).sort(), names, readme);
  }
});

for (const [name, { path, settings, complete }] of Object.entries({ ...SCREENSHOTS, ...PHONE_SCREENSHOTS })) {
  test(`the screen of the screenshot "${name}" is complete and accessible`, async () => {
    const page = await fixture.logIn(credentials, path, settings);
    await complete(page);
    await page.locator('.state[role=status], .ant-spin-spinning').first().waitFor({ state: 'detached' });
    await screenshot(page, name);
    await expectAccessibleInLongRun(page);
    expectNoCspViolations(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  });
}
