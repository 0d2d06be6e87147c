import assert from 'node:assert/strict';
import type { ConsoleFixture } from '../support/console.ts';
import { Client } from '../support/service.ts';

export const KEYS = '/system/key-api';

/** Returns helpers for tests of the API keys screen. */
export async function startKeys(fixture: ConsoleFixture) {
  const { service } = fixture;
  const page = await fixture.sharedPage();

  const rowOf = (name: string) => page.getByRole('row', { name });
  const dialogOf = (name: string | RegExp) => page.getByRole('dialog', { name });
  const readDepartmentsWith = (key: string) => new Client(service.base, key).get('/system/dept-api/list');

  /** Creates a key through the API. */
  async function createKey(admin: Client, body: Record<string, unknown>): Promise<{ keyId: number; key: string }> {
    const { data, text } = await admin.post(KEYS, { permissions: ['dept:read'], ...body });
    assert.ok(data?.key, text);
    return data;
  }

  const read = async (admin: Client, id: number) => (await admin.get(`${KEYS}/${id}`)).data;

  /** Opens the menu of a key with the keyboard and chooses an action. */
  async function chooseAction(name: string, action: string) {
    await page.getByRole('button', { name: `更多操作：${name}` }).press('Enter');
    await page.getByRole('menuitem', { name: action }).press('Enter');
  }

  /** Returns the key that a dialog shows, and closes the dialog. */
  async function takeShownKey(name: string): Promise<string> {
    const shown = dialogOf(`${name} 的 API 密钥`);
    await shown.getByText('仅显示一次，请妥善保存').waitFor();
    const key = await shown.locator('.new-secret code').innerText();
    await shown.getByRole('button', { name: '关闭', exact: true }).last().click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await page.content()).includes(key), false, 'the key is shown only once');
    return key;
  }

  return { service, page, rowOf, dialogOf, readDepartmentsWith, createKey, read, chooseAction, takeShownKey };
}
