import type { Page } from 'playwright-core';
import type { ConsoleFixture, Credentials } from '../support/console.ts';

export const isStream = (url: string) => url.includes('/change-api/stream');

/** Returns helpers for tests of pages that follow the changes of others. */
export async function startLive(fixture: ConsoleFixture) {
  /** Logs in with live updates and waits until the page follows the changes. */
  async function logInLive(credentials: Credentials, path: string): Promise<Page> {
    const page = await fixture.sharedPage();
    const opened = page.waitForResponse((response) => isStream(response.url()));
    await fixture.logIn(credentials, path, { live: true });
    await opened;
    return page;
  }

  return { service: fixture.service, logInLive };
}

/** Makes the page behave as if its tab were in the background or in the foreground. */
export const setVisibility = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(`{
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }`);
