import type { Browser } from 'playwright-core';
import { findChromium, launchChromium } from './chromium.ts';
import { launchFirefox, requireFirefox } from './firefox.ts';

/** Whether the tests run in Firefox (BANYAN_TEST_BROWSER=firefox) instead of Chromium. */
export const IS_FIREFOX = process.env.BANYAN_TEST_BROWSER === 'firefox';

/** Called once before the tests, so that installing a browser is not part of the first test that needs it. */
export const prepareBrowser = (): void => void (IS_FIREFOX ? requireFirefox() : findChromium());

export const launchBrowser = (): Promise<Browser> => (IS_FIREFOX ? launchFirefox() : launchChromium());
