import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, afterEach, beforeEach, type TestContext } from 'node:test';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
import { PASSWORD, type Service, startService } from '../harness.ts';
import { findChromium } from './chromium.ts';

/** What the console's tests stand on: the real service, and a real Chromium that people could sit at. */

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

export interface Stage {
  service: Service;
  browser: Browser;
  /** A page of somebody new: no cookie, no choice kept. Chinese, 1440 wide and without motion unless told. */
  page(options?: BrowserContextOptions): Promise<Page>;
}

const complaints = new WeakMap<Page, string[]>();
const unanswered = new WeakMap<Page, Set<Request>>();

export async function startConsole(environment: Record<string, string> = {}): Promise<Stage> {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    // Chromium's sandbox refuses to run as root.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  after(() => browser.close());
  const service = await startService(environment);
  // A page that a test opened ends with it: what it goes on doing would slow down the others.
  const lasting = new Set<BrowserContext>();
  beforeEach(() => {
    for (const context of browser.contexts()) lasting.add(context);
  });
  afterEach(async (t) => {
    if ('passed' in t && !t.passed) await tellPages(browser, t as TestContext);
    await Promise.all(browser.contexts().map((context) => lasting.has(context) || context.close()));
  });
  const page = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      baseURL: service.base,
      locale: 'zh-CN',
      viewport: DESKTOP,
      // What slides takes a busy machine's time; only one test is about it.
      reducedMotion: 'reduce',
      ...options,
    });
    // Long: several browsers may share two cores. What is quick enough is for people to say, not for tests.
    context.setDefaultTimeout(60_000);
    context.on('page', listen);
    return context.newPage();
  };
  return { service, browser, page };
}

function listen(page: Page): void {
  const heard: string[] = [];
  complaints.set(page, heard);
  page.on('console', (message) => {
    if (message.type() === 'error') heard.push(message.text());
  });
  page.on('pageerror', (error) => heard.push(String(error)));
  const open = new Set<Request>();
  unanswered.set(page, open);
  page.on('request', (request) => open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
}

/** What somebody would have seen who sat there when the test failed. */
async function tellPages(browser: Browser, t: TestContext): Promise<void> {
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    const text = await page.locator('body').innerText({ timeout: 10_000 }).catch(String);
    const requests = [...(unanswered.get(page) ?? [])].map((request) => `${request.method()} ${request.url()}`);
    t.diagnostic(`${page.url()} showed: ${text.replaceAll(/\s+/g, ' ').slice(0, 1000)}`);
    for (const request of requests) t.diagnostic(`  without an answer: ${request}`);
    for (const complaint of complaints.get(page) ?? []) t.diagnostic(`  complained: ${complaint}`);
  }
}

/** Opens a place of the console and waits until it stands there. */
export async function open(page: Page, place: string): Promise<void> {
  await page.goto(place);
  await page.locator('h1').first().waitFor();
}

export interface Who {
  tenantId?: string;
  username?: string;
  password?: string;
}

/** As a person does it, in either language; ends where one wanted to go. */
export async function logIn(
  page: Page,
  { tenantId = '000000', username = 'admin', password = PASSWORD }: Who = {},
  place = '/home',
) {
  await open(page, place);
  await page.getByLabel(/租户编号|Tenant code/).fill(tenantId);
  await page.getByLabel(/用户名|User name/).fill(username);
  await page.getByLabel(/^(密码|Password)$/).fill(password);
  await page.getByRole('button', { name: /^(登录|Log in)$/ }).click();
  await page.locator('.frame h1').waitFor();
}

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  impact: string;
  help: string;
  nodes: { target: string[]; failureSummary?: string }[];
}

/** axe-core finds nothing serious on the page as it stands. The debugger puts it there, past the policy. */
export async function noSeriousAxe(page: Page): Promise<void> {
  await page.evaluate(axe);
  // What fades in is half transparent for a moment, and would be judged so.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime < 5000).map((a) => a.finished.catch(() => 0))).then(() => 0)',
  );
  const findings = (await page.evaluate(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })) })))",
  )) as Finding[];
  const serious = findings.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const told = serious.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n  ${nodes
        .slice(0, 5)
        .map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`)
        .join('\n  ')}`,
  );
  assert.deepEqual(told, []);
}

/** Nothing that the page did was refused by its policy, and none of its scripts threw. */
export function noCspViolations(page: Page): void {
  const violations = complaints
    .get(page)
    ?.filter((text) => /content security policy|refused to|pageerror|^\w*Error:/i.test(text));
  assert.deepEqual(violations, []);
}

/** For the README: only when asked for, so that a test leaves nothing behind. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (process.env.BANYAN_SCREENSHOTS !== '1') return;
  const folder = path.resolve('docs/screenshots');
  fs.mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled' });
}
