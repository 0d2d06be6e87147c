import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import type http from 'node:http';
import { createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, beforeEach, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
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
import { type Address, type Footing, PASSWORD, type Service, startService } from './service.ts';

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
  /** The page that all tests share, as the last one left it. `sitDown` and `toLogin` undo what that did. */
  desk(): Promise<Page>;
  /** The same page, with somebody logged in at this place. */
  logIn(who?: Who, place?: string, look?: Look): Promise<Page>;
}

const complaints = new WeakMap<Page, string[]>();
const unanswered = new WeakMap<Page, Set<Request>>();

/**
 * One browser for all files of this process, and one page that their tests share: to load the console takes more than a
 * second of processor time, and twice that until it is warm. These are values and not promises: after a file has awaited
 * a promise that another file made, Node takes its hooks for hooks of that other file.
 */
let shared: Browser | undefined;
let desk: Page | undefined;
/** The one address of all services that are behind that page, one after another. */
let door: Door | undefined;

async function sharedBrowser(): Promise<Browser> {
  if (shared?.isConnected()) return shared;
  shared = await chromium.launch({
    executablePath: findChromium(),
    // Chromium's sandbox refuses to run as root.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  return shared;
}
afterWorker(async () => {
  await shared?.close();
  door?.close();
});
onHang(async () => (shared ? keepEvidence(shared) : []));

export async function startConsole(environment: Record<string, string> = {}, footing: Footing = {}): Promise<Stage> {
  const browser = await sharedBrowser();
  door ??= await openDoor();
  const service = await startService(environment, { door, ...footing });
  const baseURL = service.base;
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
    const lasts = (context: BrowserContext) => lasting?.has(context) || context === desk?.context();
    await Promise.all(
      browser
        .contexts()
        .map((context) => (lasts(context) ? context.tracing.stopChunk().catch(() => {}) : context.close())),
    );
    // Whatever broke it does not break the next test.
    if (failed && desk) await desk.goto('about:blank');
  });
  after(async () => {
    for (const context of browser.contexts())
      if (context !== desk?.context()) await context.close();
      else for (const page of context.pages()) if (page !== desk) await page.close();
  });
  const page = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      baseURL,
      locale: 'zh-CN',
      // The zone of the service: what it tells as text and what the browser works out are then the same.
      timezoneId: 'Asia/Shanghai',
      viewport: DESKTOP,
      // What slides takes a busy machine's time; only one test is about it.
      reducedMotion: 'reduce',
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
  const deskHere = async () => {
    if (!desk || desk.isClosed() || !browser.isConnected()) desk = await page();
    return desk;
  };
  const logInHere = async (who: Who = {}, place = '/home', look: Look = {}) => {
    const page = await deskHere();
    await sitDown(page, who, place, look);
    return page;
  };
  return { service, browser, page, desk: deskHere, logIn: logInHere };
}

/** Where the services of this process are reached, one at a time. */
interface Door extends Address {
  close(): void;
}

async function openDoor(): Promise<Door> {
  let behind: http.Server | undefined;
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    if (behind) behind.emit('connection', socket);
    else socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return {
    base: `http://127.0.0.1:${port}`,
    lead: (to) => {
      behind = to;
      // A connection that is kept would lead to the service before.
      for (const socket of sockets) socket.destroy();
    },
    close: () => void server.close(),
  };
}

/** Tells the console what another tab would tell it. */
const tell = (page: Page, news: object) =>
  page.evaluate(`{
    const tabs = new BroadcastChannel('banyan.session');
    tabs.postMessage(${JSON.stringify(news)});
    tabs.close();
  }`);

export const loginOf = (page: Page) => page.getByRole('heading', { name: /^(登录榕树|Log in to Banyan)$/ });

/** The page and the other tabs of its browser, which learn what it learns. */
const tabsOf = (page: Page) =>
  page
    .context()
    .pages()
    .filter((tab) => tab.url() !== 'about:blank');

/**
 * Brings the page to the login: nobody is logged in, nothing is kept of the session before, nothing is intercepted, and
 * whatever `look` leaves out is as in a new page.
 */
export async function toLogin(
  page: Page,
  { language = 'zh', viewport = DESKTOP, dark = false, motion = false }: Look = {},
): Promise<void> {
  const context = page.context();
  for (const tab of [context, ...context.pages()]) await tab.unrouteAll({ behavior: 'ignoreErrors' });
  await context.setOffline(false);
  await context.clearCookies();
  await context.clearPermissions();
  await page.mouse.move(0, 0);
  const size = page.viewportSize();
  if (size?.width !== viewport.width || size.height !== viewport.height) await page.setViewportSize(viewport);
  await page.emulateMedia({
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: motion ? 'no-preference' : 'reduce',
  });
  // A new page, or one that broke under the test before.
  if ((await page.locator('.frame, .login').count()) === 0) await page.goto('/login');
  else await tell(page, { kind: 'out' });
  for (const tab of tabsOf(page)) await loginOf(tab).waitFor();
  await page.evaluate(`{
    localStorage.clear();
    const choose = (key, newValue) => dispatchEvent(new StorageEvent('storage', { key, newValue }));
    choose('banyan.language', '${language}');
    choose('banyan.theme', 'system');
  }`);
  await page.getByRole('heading', { name: language === 'zh' ? '登录榕树' : 'Log in to Banyan' }).waitFor();
  complaints.get(page)?.splice(0);
}

/** Somebody sits down at the page and is logged in, by a call that sets the cookie; then a place is opened. */
export async function sitDown(page: Page, who: Who = {}, place = '/home', look: Look = {}): Promise<void> {
  await toLogin(page, look);
  await logInByCall(page, who);
  if (place === '/home') return;
  await goTo(page, place);
  await page
    .locator('h1')
    .filter({ hasNotText: /^(首页|Home)$/ })
    .first()
    .waitFor();
}

/** At a page that shows the login. It learns of it as if it had happened in another tab. */
export async function logInByCall(page: Page, who: Who = {}): Promise<void> {
  await tell(page, { kind: 'token', token: await beginSession(page, who) });
  for (const tab of tabsOf(page)) await tab.locator('.frame h1').waitFor();
}

/** Goes to a place as a link does, without loading the page; also where nobody is logged in. The state is the router's. */
export const goTo = (page: Page, place: string, how: 'push' | 'replace' = 'push') =>
  page.evaluate(`{
    const { idx = 0 } = history.state ?? {};
    const state = { idx: idx + ${how === 'push' ? 1 : 0}, key: crypto.randomUUID(), usr: null };
    history.${how}State(state, '', ${JSON.stringify(place)});
    dispatchEvent(new PopStateEvent('popstate', { state }));
  }`);

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
  const lines = [`screenshots, DOM and traces: ${folder} (npx playwright-core show-trace ${folder}/trace-0.zip)`];
  if (!browser.isConnected()) lines.push('The browser has ended.');
  for (const [n, context] of browser.contexts().entries()) {
    for (const [m, page] of context.pages().entries()) {
      const file = path.join(folder, `page-${n}-${m}`);
      await given(page.screenshot({ path: `${file}.png` }));
      fs.writeFileSync(`${file}.html`, await given(page.content()));
      const text = await given(page.locator('body').innerText());
      lines.push(`${page.url()} showed: ${text.replaceAll(/\s+/g, ' ').slice(0, 1000)}`);
      for (const request of unanswered.get(page) ?? [])
        lines.push(`  without an answer: ${request.method()} ${request.url()}`);
      for (const complaint of complaints.get(page) ?? []) lines.push(`  complained: ${complaint}`);
    }
    await given(context.tracing.stop({ path: path.join(folder, `trace-${n}.zip`) }));
  }
  return lines;
}

/** What a page that may be stuck tells, or why it does not. */
async function given<T>(asked: Promise<T>): Promise<T | string> {
  const stuck = setTimeout(10_000, 'no answer within ten seconds', { ref: false });
  return Promise.race([asked.catch(String), stuck]);
}

/** Opens a place of the console and waits until it stands there. */
export async function open(page: Page, place: string): Promise<void> {
  await page.goto(place);
  await page.locator('h1').first().waitFor();
}

/** Goes to a place, and waits until nothing of the former screen is left: over a place that does not exist. */
export async function visit(page: Page, place: string): Promise<void> {
  const title = /^(没有这个页面|There is no such page)$/;
  await goTo(page, '/nowhere');
  await page.locator('h1', { hasText: title }).waitFor();
  await goTo(page, place, 'replace');
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
