import type { Locator, Page } from 'playwright-core';

/** What hands do that are too quick, and answers that are too slow. */

/** The second click comes when the form has been checked and the screen does not know of it yet. */
export const clickTwice = (button: Locator) =>
  button.evaluate(async (element: { click(): void }) => {
    element.click();
    for (let moment = 0; moment < 200; moment++) await undefined;
    element.click();
  });

/** Holds what is written there until told; `asked` is what was written. */
export async function hold(page: Page, method: string, path: string) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const asked: string[] = [];
  await page.route(`**${path}`, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    asked.push(route.request().postData() ?? '');
    await released;
    await route.continue();
  });
  return { asked, release };
}

/** What fades out still stands there for a moment. */
export const untilStill = (page: Page) =>
  page.evaluate(
    `(async () => {
      for (let pictures = 0; pictures < 2; pictures++) await new Promise(requestAnimationFrame);
      const ends = (animation) => animation.effect.getComputedTiming().endTime < 5000;
      await Promise.all(document.getAnimations().filter(ends).map(({ finished }) => finished.catch(() => 0)));
    })()`,
  );
