import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

/** Helpers for double clicks, aligned actions, slow requests and pages that have to settle. */

/** Clicks twice. The second click comes after the form is validated and before the screen shows that it is being saved. */
export const clickTwice = (button: Locator) =>
  button.evaluate(async (element: { click(): void }) => {
    element.click();
    for (let tick = 0; tick < 200; tick++) await undefined;
    element.click();
  });

/** Expects that the actions of all rows of a table are aligned with each other and with the heading of their column. */
export async function expectAlignedActions(page: Page): Promise<void> {
  const { heading, edges } = (await page.evaluate(`(() => ({
    heading: getComputedStyle(document.querySelector('thead th:last-child')).textAlign,
    edges: [...document.querySelectorAll('tbody .row-actions')].map((actions) =>
      [...actions.children].slice(-2).map((action) => Math.round(action.getBoundingClientRect().right)).join()),
  }))()`)) as { heading: string; edges: string[] };
  assert.equal(heading, 'end');
  assert.ok(edges.length > 0);
  assert.equal(new Set(edges).size, 1, edges.join(' '));
}

/** Holds requests with this method and path until `release` is called. `requests` are their bodies. */
export async function holdRequests(page: Page, method: string, path: string) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const requests: string[] = [];
  await page.route(`**${path}`, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    requests.push(route.request().postData() ?? '');
    await released;
    await route.continue();
  });
  return { requests, release };
}

/** Waits until animations have ended: elements that fade out are still in the DOM. */
export const waitForAnimations = (page: Page) =>
  page.evaluate(
    `(async () => {
      for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
      const ends = (animation) => animation.effect.getComputedTiming().endTime < 5000;
      await Promise.all(document.getAnimations().filter(ends).map(({ finished }) => finished.catch(() => 0)));
    })()`,
  );

/**
 * Waits long enough to show that earlier responses cause no further request: sends several requests in sequence and waits
 * for a frame after each. A request that the page had sent because of a response would have been sent before these.
 */
export const waitUntilSettled = (page: Page) =>
  page.evaluate(`(async () => {
    for (let times = 0; times < 5; times++) {
      await (await fetch('/version')).text();
      await new Promise(requestAnimationFrame);
    }
  })()`);

/** Expects that neither Escape nor a button closes a dialog while its request is in flight, and that no confirmation is shown. */
export async function expectStaysOpen(page: Page, dialog: Locator): Promise<void> {
  await dialog.locator('.ant-btn-loading').waitFor();
  assert.equal(await dialog.getByRole('button', { name: '取消' }).isDisabled(), true);
  await page.keyboard.press('Escape');
  await waitForAnimations(page);
  assert.equal(
    await page.locator('.ant-modal-wrap:visible').count(),
    1,
    'Escape closes nothing, and no confirmation is shown',
  );
  await dialog.locator('.ant-modal-close').click();
  await waitForAnimations(page);
  assert.equal(await page.locator('.ant-modal-wrap:visible').count(), 1, 'the close button closes nothing');
}
