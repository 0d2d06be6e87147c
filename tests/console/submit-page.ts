import { type ConsoleFixture, logInOnPage } from '../support/console.ts';
import { type Client, PASSWORD } from '../support/service.ts';

/** Returns helpers for tests that submit a form again, or leave it, while its request is in flight. */
export async function startSubmitting(fixture: ConsoleFixture) {
  const page = await fixture.sharedPage();

  const logInAsAdmin = ({ tenantId }: Client, path: string) => logInOnPage(page, { tenantId, username: 'boss' }, path);

  /** Holds the responses to POST requests until `release` is called. `requests` are the bodies. */
  async function holdCreateResponses(path: string) {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const requests: string[] = [];
    await page.route(`**${path}`, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      requests.push(route.request().postData() ?? '');
      const response = await route.fetch();
      await released;
      await route.fulfill({ response });
    });
    return { requests, release };
  }

  async function fillNewDepartment(name: string) {
    await page.getByRole('button', { name: '新建下级' }).click();
    const dialog = page.getByRole('dialog', { name: '在“总部”下新建部门' });
    await dialog.getByLabel('部门名称').fill(name);
    return dialog;
  }

  async function fillNewTenant(name: string) {
    await page.getByRole('button', { name: '新建租户' }).first().click();
    await page.getByLabel('租户名称').fill(name);
    await page.getByLabel('用户名', { exact: true }).fill('first');
    await page.getByLabel('密码', { exact: true }).fill(PASSWORD);
    return page.getByRole('button', { name: '创建租户' });
  }

  const childrenOf = async (admin: Client, parent: string) =>
    (await admin.get(`/system/dept-api/${parent}/children`)).data.rows.map(
      ({ deptName }: { deptName: string }) => deptName,
    );

  const { service } = fixture;
  return { service, page, logInAsAdmin, holdCreateResponses, fillNewDepartment, fillNewTenant, childrenOf };
}
