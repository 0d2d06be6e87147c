import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
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
import { findChromium } from './chromium.ts';
import { afterWorker, onHang } from './cleanup.ts';
import { type Footing, PASSWORD, type Service, startService } from './service.ts';

/** What the console's tests stand on: the real service, and a real Chromium that people could sit at. */

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

export interface Who {
  tenantId?: string;
  username?: string;
  password?: string;
}

/** What a person chose, or holds in their hands: all of it can change while a page stands. */
export interface Look {
  language?: 'zh' | 'en';
  viewport?: { width: number; height: number };
  dark?: boolean;
  motion?: boolean;
}

export interface Stage {
  service: Service;
  browser: Browser;
  /** A page of somebody new: no cookie, no choice kept. Chinese, 1440 wide and without motion unless told. */
  page(options?: BrowserContextOptions): Promise<Page>;
  /**
   * The page that the tests of a file share, logged in anew and at this place. Loading the console takes more than a
   * second of processor time, so it is loaded once; whatever the test before did to the page is undone.
   */
  logIn(who?: Who, place?: string, look?: Look): Promise<Page>;
}

const complaints = new WeakMap<Page, string[]>();
const unanswered = new WeakMap<Page, Set<Request>>();

/**
 * One browser for all files of this process. Every page has a context of its own. This is the browser and not a promise
 * of it: after a file has awaited a promise that another file made, Node takes its hooks for hooks of that other file.
 */
let shared: Browser | undefined;

async function sharedBrowser(): Promise<Browser> {
  if (shared?.isConnected()) return shared;
  shared = await chromium.launch({
    executablePath: findChromium(),
    // Chromium's sandbox refuses to run as root.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  return shared;
}
afterWorker(() => shared?.close());
onHang(async () => (shared ? keepEvidence(shared) : []));

export async function startConsole(
  environment: Record<string, string> = {},
  footing: Footing = {},
  pageOptions: BrowserContextOptions = {},
): Promise<Stage> {
  const browser = await sharedBrowser();
  const service = await startService(environment, footing);
  let kept: Page | undefined;
  // A page that a test opened ends with it: what it goes on doing would slow down the others. Subtests run these hooks,
  // too, so there is one set for each level.
  const before: Set<BrowserContext>[] = [];
  beforeEach(async () => {
    before.push(new Set(browser.contexts()));
    await Promise.all(browser.contexts().map((context) => context.tracing.startChunk().catch(() => {})));
  });
  afterEach(async (t) => {
    const lasting = before.pop();
    const failed = 'passed' in t && !t.passed;
    if (failed) for (const line of await keepEvidence(browser)) (t as TestContext).diagnostic(line);
    const ends = (context: BrowserContext) => (context === kept?.context() ? failed : !lasting?.has(context));
    await Promise.all(
      browser
        .contexts()
        .map((context) => (ends(context) ? context.close() : context.tracing.stopChunk().catch(() => {}))),
    );
  });
  after(() => Promise.all(browser.contexts().map((context) => context.close())));
  const page = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      baseURL: service.base,
      locale: 'zh-CN',
      viewport: DESKTOP,
      // What slides takes a busy machine's time; only one test is about it.
      reducedMotion: 'reduce',
      ...pageOptions,
      ...options,
    });
    // Only what hangs ends with it: no test passes or fails by how long a page took.
    context.setDefaultTimeout(300_000);
    // Actions and requests only, which costs nothing to speak of; a copy of the DOM at each action costs a third more
    // processor time. What a failed test leaves behind has the DOM and a picture of its end.
    await context.tracing.start();
    context.on('page', listen);
    return context.newPage();
  };
  const logInHere = async (who: Who = {}, place = '/home', look: Look = {}) => {
    if (!kept || kept.isClosed()) {
      kept = await page();
      await open(kept, '/login');
    } else {
      await tidy(kept);
    }
    await change(kept, look);
    await logInAgain(kept, who, place);
    return kept;
  };
  return { service, browser, page, logIn: logInHere };
}

/** Undoes what a test did around the page. What it did within the page goes with its session. */
async function tidy(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.context().setOffline(false);
  await page.mouse.move(0, 0);
  complaints.get(page)?.splice(0);
}

/** Everything that is left out is as in a new page. */
async function change(page: Page, { language = 'zh', viewport = DESKTOP, dark = false, motion = false }: Look) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: motion ? 'no-preference' : 'reduce',
  });
  await page.evaluate(`{
    localStorage.clear();
    const choose = (key, newValue) => dispatchEvent(new StorageEvent('storage', { key, newValue }));
    choose('banyan.language', '${language}');
    choose('banyan.theme', 'system');
  }`);
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

/** Leaves a trace, a screenshot and the DOM of every page of a failed test; returns where, and what the pages showed. */
async function keepEvidence(browser: Browser): Promise<string[]> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-failure-'));
  for (const [n, context] of browser.contexts().entries()) {
    for (const [m, page] of context.pages().entries()) {
      const file = path.join(folder, `page-${n}-${m}`);
      await page.screenshot({ path: `${file}.png`, timeout: 60_000 }).catch(() => {});
      await page
        .content()
        .then((dom) => fs.writeFileSync(`${file}.html`, dom))
        .catch(() => {});
    }
    await context.tracing.stop({ path: path.join(folder, `trace-${n}.zip`) }).catch(() => {});
  }
  const lines = [`screenshots, DOM and traces: ${folder} (npx playwright-core show-trace ${folder}/trace-0.zip)`];
  if (!browser.isConnected()) lines.push('The browser has ended.');
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    const text = await page.locator('body').innerText({ timeout: 10_000 }).catch(String);
    const requests = [...(unanswered.get(page) ?? [])].map((request) => `${request.method()} ${request.url()}`);
    lines.push(`${page.url()} showed: ${text.replaceAll(/\s+/g, ' ').slice(0, 1000)}`);
    for (const request of requests) lines.push(`  without an answer: ${request}`);
    for (const complaint of complaints.get(page) ?? []) lines.push(`  complained: ${complaint}`);
  }
  return lines;
}

/** Opens a place of the console and waits until it stands there. */
export async function open(page: Page, place: string): Promise<void> {
  await page.goto(place);
  await page.locator('h1').first().waitFor();
}

/** A place that does not exist. */
const NOWHERE = '/nowhere';

/**
 * Goes to a place as a link does, without loading the page: that takes more than a second of processor time. The way
 * leads over a place that does not exist, so that nothing of the former screen is left, even where both are the same.
 */
export async function visit(page: Page, place: string): Promise<void> {
  const title = /^(没有这个页面|There is no such page)$/;
  const go = (how: string, to: string) =>
    page.evaluate(`{ const { idx = 0 } = history.state ?? {};
      history.${how}State({ idx: idx + ${how === 'push' ? 1 : 0}, key: crypto.randomUUID(), usr: null }, '', ${JSON.stringify(to)});
      dispatchEvent(new PopStateEvent('popstate', { state: history.state })); }`);
  await go('push', NOWHERE);
  await page.locator('h1', { hasText: title }).waitFor();
  await go('replace', place);
  await page.locator('h1').filter({ hasNotText: title }).first().waitFor();
}

/** Begins a session by a call that sets the cookie of the page; returns the access token. */
export async function beginSession(
  page: Page,
  { tenantId = '000000', username = 'admin', password = PASSWORD }: Who = {},
) {
  const login = { tenantId, username, password };
  const answer = await page.context().request.post('/auth/login?session=cookie', { data: login });
  assert.equal(answer.status(), 200, await answer.text());
  return (await answer.json()).data.access_token as string;
}

/** Logs in by a call that sets the cookie, then opens a place. Where logging in is the subject, `logInByForm` does it. */
export async function logIn(page: Page, who: Who = {}, place = '/home') {
  await beginSession(page, who);
  await page.goto(place);
  await page.locator('.frame h1').waitFor();
}

/**
 * Logs in as somebody on a page that shows the console, without loading it again: the page is told that somebody logged
 * out and in in another tab. It forgets everything that it has read for the user before.
 */
export async function logInAgain(page: Page, who: Who = {}, place = '/home'): Promise<void> {
  const token = await beginSession(page, who);
  const tell = (news: object) =>
    page.evaluate(`new BroadcastChannel('banyan.session').postMessage(${JSON.stringify(news)})`);
  await tell({ kind: 'out' });
  await page.locator('.login h1').waitFor();
  await tell({ kind: 'token', token });
  await page.locator('.frame h1').waitFor();
  await visit(page, place);
}

/** Logs in as a person does, in either language; ends at the place they wanted. */
export async function logInByForm(
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
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
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
