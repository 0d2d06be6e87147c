import assert from 'node:assert/strict';
import { startConsole } from '../support/console.ts';
import { type Client, FAST_WEBHOOK_POLLING } from '../support/service.ts';

export const WEBHOOKS = '/system/webhook-api';

/** Starts the console. Returns helpers for tests of the Webhooks screens. */
export async function startWebhooks() {
  const fixture = await startConsole({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: FAST_WEBHOOK_POLLING });
  const { service } = fixture;
  const page = await fixture.sharedPage();

  const rowOf = (name: string) => page.getByRole('row', { name });
  const dialogOf = (name: string | RegExp) => page.getByRole('dialog', { name });
  const deliveries = () => page.locator('.webhooks-delivery');

  /** Registers a webhook through the API and returns its id. */
  async function register(admin: Client, body: Record<string, unknown>): Promise<number> {
    const { data, text } = await admin.post(WEBHOOKS, body);
    assert.ok(data?.id, text);
    return data.id;
  }

  const read = async (admin: Client, id: number) => (await admin.get(`${WEBHOOKS}/${id}`)).data;

  /** Opens the menu of a webhook with the keyboard and chooses an action. */
  async function chooseAction(name: string, action: string) {
    await page.getByRole('button', { name: `更多操作：${name}` }).press('Enter');
    await page.getByRole('menuitem', { name: action }).press('Enter');
  }

  return { service, page, rowOf, dialogOf, deliveries, register, read, chooseAction };
}
