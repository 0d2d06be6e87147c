import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, logInOnPage, shareConsole } from '../support/console.ts';
import { csv, xlsx } from '../support/import.ts';
import { credentialsOf } from './departments-page.ts';

const fixture = await shareConsole();
const { service } = fixture;
const page = await fixture.sharedPage();

const choose = (name: string, buffer: Buffer) =>
  page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });

test('a file with errors shows them in place, and a corrected one is imported and undone', async () => {
  const admin = await service.createTenant({ tenantName: '榕树集团' });
  await logInOnPage(page, credentialsOf(admin), '/departments');
  await page.getByRole('button', { name: '导入' }).click();
  await page.getByRole('heading', { level: 1, name: '导入部门' }).waitFor();
  await expectAccessibleInLongRun(page);

  await choose(
    '部门.csv',
    csv([
      ['部门路径', '状态'],
      ['总部', '启动'],
      ['总部/研发中心', '正常'],
    ]),
  );
  await page.getByText('有 1 行存在错误').waitFor();
  const wrong = page.getByRole('row', { name: /启动/ });
  await wrong.getByRole('cell').nth(1).getByText('状态只能是：正常、停用').waitFor();
  await wrong.getByRole('cell').nth(3).getByText('状态只能是：正常、停用').waitFor();
  assert.equal(await page.getByRole('region', { name: '文件内容' }).getAttribute('tabindex'), '0');
  assert.ok(await page.getByRole('button', { name: '开始导入' }).isDisabled());
  await expectAccessibleInLongRun(page);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: '下载错误明细' }).click();
  assert.equal((await downloading).suggestedFilename(), '导入错误明细.xlsx');

  const noHeader = page.getByText('未识别到表头，已按导入模板的列顺序读取');
  assert.equal(await noHeader.count(), 0);
  await page.getByRole('button', { name: '重新选择文件' }).click();
  await choose('无表头.csv', csv([['总部']]));
  await noHeader.waitFor();

  await page.getByRole('button', { name: '重新选择文件' }).click();
  await choose(
    '部门.xlsx',
    await xlsx([
      ['部门路径', '状态'],
      ['总部/研发中心', '正常'],
      ['总部', null],
    ]),
  );
  await page.getByText('部门.xlsx').waitFor();
  await page.getByRole('button', { name: '开始导入' }).click();
  await page.getByText('导入完成').waitFor();
  assert.equal((await admin.get('/system/dept-api/list')).data.total, 2);
  await page.getByRole('button', { name: '撤销导入' }).click();
  await page.getByRole('status').getByText('已撤销导入').first().waitFor();
  await page.getByText('共 2 行').waitFor({ state: 'detached' });
  assert.equal((await admin.get('/system/dept-api/list')).data.total, 0);
  expectNoCspViolations(page);
});

test('the initial passwords of imported users can be downloaded, and work', async () => {
  const admin = await service.createTenant();
  await logInOnPage(page, credentialsOf(admin), '/people');
  await page.getByRole('button', { name: '导入' }).click();
  await page.getByRole('heading', { level: 1, name: '导入用户' }).waitFor();
  await choose(
    '人员.csv',
    csv([
      ['用户名', '姓名'],
      ['zhangsan', '张三'],
      ['=1+1', '李四'],
    ]),
  );
  await page.getByRole('button', { name: '开始导入' }).click();
  await page.getByText('已为 2 名新用户生成初始密码').waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: '下载初始密码' }).click();
  const text = await fs.readFile(await (await downloading).path(), 'utf8');
  const [, password] = /"zhangsan","([^"]+)"/.exec(text) ?? [];
  assert.match(text, /"'=1\+1","[^"]+"/, 'a spreadsheet program does not take the name for a formula');
  const { code, data } = await service.anonymous.post('/auth/login', {
    tenantId: admin.tenantId,
    username: 'zhangsan',
    password,
  });
  assert.equal(code, 200);
  assert.ok(data.access_token);
  assert.equal((await page.content()).includes(password as string), false, 'the passwords are only in the file');
});

test('importing another file asks for confirmation until the initial passwords are downloaded', async () => {
  const admin = await service.createTenant();
  await logInOnPage(page, credentialsOf(admin), '/import/people');
  const importUser = async (userName: string) => {
    await choose('人员.csv', csv([['用户名'], [userName]]));
    await page.getByRole('button', { name: '开始导入' }).click();
    await page.getByText('已为 1 名新用户生成初始密码').waitFor();
  };
  const another = page.getByRole('button', { name: '再导入一个文件' });
  const question = page.getByRole('dialog', { name: '离开后将无法再次查看初始密码，确定离开？' });
  const dropZone = page.getByText('点击或拖拽文件到此处');
  await importUser('lisi');
  await another.click();
  await question.getByText('初始密码仅显示一次，请先下载').waitFor();
  await expectAccessibleInLongRun(page);
  await question.getByRole('button', { name: '留在此页' }).click();
  await question.waitFor({ state: 'hidden' });
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: '下载初始密码' }).click();
  assert.match(await fs.readFile(await (await downloading).path(), 'utf8'), /"lisi","[^"]+"/);
  await another.click();
  await dropZone.waitFor();
  assert.equal(await question.count(), 0);

  await importUser('wangwu');
  await another.click();
  await question.getByRole('button', { name: '离开' }).click();
  await dropZone.waitFor();
  await question.waitFor({ state: 'hidden' });

  // The users of an import that was undone are deleted, so no password can be lost.
  await importUser('zhaoliu');
  await page.getByRole('button', { name: '撤销导入' }).click();
  await page.getByText('已为 1 名新用户生成初始密码').waitFor({ state: 'detached' });
  await another.click();
  await dropZone.waitFor();
  assert.equal(await question.count(), 0);
});
