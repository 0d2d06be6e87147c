import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Browser, Page, Request } from 'playwright-core';

/** What pages of the console's tests have done, for the report of a failed test. */

/** The errors that a page has reported since it was reset. */
export const pageErrors = new WeakMap<Page, string[]>();
const pendingRequests = new WeakMap<Page, Set<Request>>();

/** Records the errors and pending requests of a page. */
export function recordEvents(page: Page): void {
  const errors: string[] = [];
  pageErrors.set(page, errors);
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  const pending = new Set<Request>();
  pendingRequests.set(page, pending);
  page.on('request', (request) => pending.add(request));
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
}

/** Saves a trace, a screenshot and the DOM of every page of a failed test. Returns lines that say where, and what was shown. */
export async function saveEvidence(browser: Browser): Promise<string[]> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-failure-'));
  const lines = [`screenshots, DOM and traces: ${folder} (npx playwright-core show-trace ${folder}/trace-0.zip)`];
  if (!browser.isConnected()) lines.push('The browser has exited.');
  for (const [n, context] of browser.contexts().entries()) {
    for (const [m, page] of context.pages().entries()) {
      const file = path.join(folder, `page-${n}-${m}`);
      await withTimeout(page.screenshot({ path: `${file}.png` }));
      fs.writeFileSync(`${file}.html`, await withTimeout(page.content()));
      const text = await withTimeout(page.locator('body').innerText());
      lines.push(`${page.url()} showed: ${text.replaceAll(/\s+/g, ' ').slice(0, 1000)}`);
      for (const request of pendingRequests.get(page) ?? [])
        lines.push(`  pending request: ${request.method()} ${request.url()}`);
      for (const error of pageErrors.get(page) ?? []) lines.push(`  error: ${error}`);
    }
    await withTimeout(context.tracing.stop({ path: path.join(folder, `trace-${n}.zip`) }));
  }
  return lines;
}

/** Returns the result, or the reason why a page that may be stuck gives none. */
async function withTimeout<T>(result: Promise<T>): Promise<T | string> {
  const timeout = setTimeout(10_000, 'no result within ten seconds', { ref: false });
  return Promise.race([result.catch(String), timeout]);
}
