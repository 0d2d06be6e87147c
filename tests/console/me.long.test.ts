// Only with test:long: it repeats rules of all screens for the account screen; me.test.ts covers the password and the sessions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, logIn, logInOnPage, PHONE, startConsole } from '../support/console.ts';

const fixture = await startConsole();
const page = await fixture.sharedPage();

test('the dark theme survives a reload and is accessible', async () => {
  // Use a new context, because the browser stores the theme.
  const page = await fixture.newPage({ viewport: PHONE });
  await logIn(page, {}, '/me');
  await page.getByText('深色').click();
  await page.locator('html[data-theme=dark]').waitFor();
  await page.reload();
  await page.locator('html[data-theme=dark]').waitFor();
  await page.getByText('当前设备').waitFor();
  await expectAccessibleInLongRun(page);
});

test('a dialog is not animated when the system requests reduced motion', async () => {
  await fixture.service.root.createUser({ userName: 'qin', roles: ['admin'] });
  const recordAnimations = async (reducedMotion: 'reduce' | 'no-preference') => {
    await logInOnPage(page, { username: 'qin' }, '/me');
    await page.emulateMedia({ reducedMotion });
    await page.getByText('当前设备').waitFor();
    await page.evaluate(`animations = [];
      for (const kind of ['animationstart', 'transitionstart'])
        addEventListener(kind, ({ target, propertyName, animationName }) => animations.push([target.className, propertyName, animationName].join(' ')), true);`);
    await page.getByRole('button', { name: '退出所有设备' }).click();
    await page.getByRole('dialog').getByRole('button', { name: '取消' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return (await page.evaluate('animations')) as string[];
  };
  assert.notDeepEqual(await recordAnimations('no-preference'), []);
  assert.deepEqual(await recordAnimations('reduce'), []);
});
