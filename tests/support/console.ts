import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import type http from 'node:http';
import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, type TestContext } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { after, afterWorker, onHang } from './cleanup.ts';
import { pageErrors, recordEvents, saveEvidence } from './page-evidence.ts';
import { isLong } from './scale.ts';
import { type Address, PASSWORD, type Service, type ServiceOptions, shareService, startService } from './service.ts';

/** The fixture of the console's tests: the real service and a real Chromium, or Firefox with BANYAN_TEST_BROWSER=firefox. */

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

export interface Credentials {
  tenantId?: string;
  username?: string;
  password?: string;
}

/** Settings of the user and of the device. All can change while a page is open. */
export interface PageSettings {
  language?: 'zh' | 'en';
  viewport?: { width: number; height: number };
  dark?: boolean;
  /** Whether the page follows the changes of others. Off by default: most tests decide themselves when a page refetches. */
  live?: boolean;
}

export interface ConsoleFixture {
  service: Service;
  browser: Browser;
  /** Opens a page in a new context, without cookies or stored settings. Defaults: Chinese, 1440 wide, reduced motion. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
  /** Returns the page that all tests share, as the previous test left it. `logInOnPage` and `resetToLogin` reset it. */
  sharedPage(): Promise<Page>;
  /** Returns the shared page after a login, at this path. */
  logIn(credentials?: Credentials, path?: string, settings?: PageSettings): Promise<Page>;
}

/**
 * One browser for all files of this process, and one page that their tests share: loading the console takes more than a
 * second of CPU time, and twice that until it is warm. These are values and not promises: when a file awaits a promise that
 * another file created, node:test assigns the hooks of this file to the other one.
 */
let sharedBrowser: Browser | undefined;
let sharedPage: Page | undefined;
/** The address of all services that the shared page uses, one after another. */
let address: SharedAddress | undefined;

async function getBrowser(): Promise<Browser> {
  if (sharedBrowser?.isConnected()) return sharedBrowser;
  sharedBrowser = await launchBrowser();
  return sharedBrowser;
}
afterWorker(async () => {
  await sharedBrowser?.close();
  address?.close();
});
onHang(async () => (sharedBrowser ? saveEvidence(sharedBrowser) : []));

/** Starts a separate service for a test file, with the console. */
export async function startConsole(
  environment: Record<string, string> = {},
  options: ServiceOptions = {},
): Promise<ConsoleFixture> {
  address ??= await listenForServices();
  return openConsole(await startService(environment, { address, ...options }));
}

/** Opens the console of the service that test files share. `shareService` says which files can use it. */
export async function shareConsole(): Promise<ConsoleFixture> {
  address ??= await listenForServices();
  const shared = await shareService();
  address.routeTo(shared.app.server);
  return openConsole({ ...shared, base: address.base });
}

async function openConsole(service: Service): Promise<ConsoleFixture> {
  const browser = await getBrowser();
  const baseURL = service.base;
  // Close the pages that a test has opened when it ends: their activity would slow down others. Subtests run these hooks
  // too, so there is one set of contexts for each nesting level.
  const contextsBefore: Set<BrowserContext>[] = [];
  beforeEach(async () => {
    contextsBefore.push(new Set(browser.contexts()));
    await Promise.all(browser.contexts().map((context) => context.tracing.startChunk().catch(() => {})));
  });
  afterEach(async (t) => {
    const existing = contextsBefore.pop();
    const failed = 'passed' in t && !t.passed;
    if (failed) for (const line of await saveEvidence(browser)) (t as TestContext).diagnostic(line);
    const staysOpen = (context: BrowserContext) => existing?.has(context) || context === sharedPage?.context();
    await Promise.all(
      browser
        .contexts()
        .map((context) => (staysOpen(context) ? context.tracing.stopChunk().catch(() => {}) : context.close())),
    );
    // Reset the page, so that a failure does not affect the next test.
    if (failed && sharedPage) await sharedPage.goto('about:blank');
  });
  after(async () => {
    for (const context of browser.contexts())
      if (context !== sharedPage?.context()) await context.close();
      else for (const page of context.pages()) if (page !== sharedPage) await page.close();
  });
  const newPage = async (contextOptions: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      baseURL,
      locale: 'zh-CN',
      // The time zone of the service, so that times which the service formats and those of the browser are the same.
      timezoneId: 'Asia/Shanghai',
      viewport: DESKTOP,
      // Animations are slow on a busy machine, and only one test is about them.
      reducedMotion: 'reduce',
      ...contextOptions,
    });
    // The timeout only ends tests that hang: no result depends on the speed of a page.
    context.setDefaultTimeout(300_000);
    // Trace only actions and requests, which is cheap; DOM snapshots of each action cost a third more CPU time. A failed
    // test saves the final DOM and a screenshot.
    await context.tracing.start();
    await context.addInitScript("try { localStorage['banyan.live'] ??= 'off' } catch {}");
    context.on('page', recordEvents);
    return context.newPage();
  };
  const getSharedPage = async () => {
    if (!sharedPage || sharedPage.isClosed() || !browser.isConnected()) sharedPage = await newPage();
    return sharedPage;
  };
  const logInOnSharedPage = async (credentials: Credentials = {}, path = '/home', settings: PageSettings = {}) => {
    const page = await getSharedPage();
    await logInOnPage(page, credentials, path, settings);
    return page;
  };
  return { service, browser, newPage, sharedPage: getSharedPage, logIn: logInOnSharedPage };
}

/** The address at which the services of this process are reached, one at a time. */
interface SharedAddress extends Address {
  close(): void;
}

async function listenForServices(): Promise<SharedAddress> {
  let target: http.Server | undefined;
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    if (target) target.emit('connection', socket);
    else socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return {
    base: `http://127.0.0.1:${port}`,
    routeTo: (server) => {
      if (target === server) return;
      target = server;
      // An open connection would still belong to the previous service.
      for (const socket of sockets) socket.destroy();
    },
    close: () => void server.close(),
  };
}

/** Sends the console a message as if from another tab. */
const broadcast = (page: Page, message: object) =>
  page.evaluate(`{
    const tabs = new BroadcastChannel('banyan.session');
    tabs.postMessage(${JSON.stringify(message)});
    tabs.close();
  }`);

export const loginHeading = (page: Page) => page.getByRole('heading', { name: /^(登录榕树|Log in to Banyan)$/ });

/** Returns the page and the other tabs of its context, which receive the same messages. */
const tabsOf = (page: Page) =>
  page
    .context()
    .pages()
    .filter((tab) => tab.url() !== 'about:blank');

/**
 * Resets the page to the login screen: nobody is logged in, no state of a former session is left, no request is intercepted,
 * and the settings are those of a new page unless given.
 */
export async function resetToLogin(
  page: Page,
  { language = 'zh', viewport = DESKTOP, dark = false, live = false }: PageSettings = {},
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
    reducedMotion: 'reduce',
  });
  // The page is new, or a failed test has reset it.
  if ((await page.locator('.frame, .login').count()) === 0) await page.goto('/login');
  else await broadcast(page, { kind: 'logout' });
  for (const tab of tabsOf(page)) await loginHeading(tab).waitFor();
  await page.evaluate(`{
    localStorage.clear();
    const choose = (key, newValue) => dispatchEvent(new StorageEvent('storage', { key, newValue }));
    choose('banyan.language', '${language}');
    choose('banyan.theme', 'system');
    choose('banyan.page-size', '20');
    choose('banyan.density', 'middle');
    // Read when the first screen after the login loads.
    localStorage.setItem('banyan.live', '${live ? 'on' : 'off'}');
    choose('banyan.live', '${live ? 'on' : 'off'}');
  }`);
  await page.getByRole('heading', { name: language === 'zh' ? '登录榕树' : 'Log in to Banyan' }).waitFor();
  pageErrors.get(page)?.splice(0);
}

/** Resets the page, logs in through the API and navigates to the path. */
export async function logInOnPage(
  page: Page,
  credentials: Credentials = {},
  path = '/home',
  settings: PageSettings = {},
): Promise<void> {
  await resetToLogin(page, settings);
  // The login screen leads to this path without rendering the home screen first, unless another user was logged in before.
  if (path !== '/home') await navigate(page, `/login?to=${encodeURIComponent(path)}`, 'replace');
  await logInViaApi(page, credentials);
  if (path === '/home') return;
  if ((await page.evaluate('location.pathname')) === '/home') await navigate(page, path);
  await page
    .locator('h1')
    .filter({ hasNotText: /^(首页|Home)$/ })
    .first()
    .waitFor();
}

/** Logs in on a page that shows the login screen, as if it had happened in another tab. */
export async function logInViaApi(page: Page, credentials: Credentials = {}): Promise<void> {
  await broadcast(page, { kind: 'token', token: await createSession(page, credentials) });
  for (const tab of tabsOf(page)) await tab.locator('.frame h1').waitFor();
}

/** Navigates as a link does, without loading the page, even if nobody is logged in. Sets the router's history state. */
export const navigate = (page: Page, path: string, how: 'push' | 'replace' = 'push') =>
  page.evaluate(`{
    const { idx = 0 } = history.state ?? {};
    const state = { idx: idx + ${how === 'push' ? 1 : 0}, key: crypto.randomUUID(), usr: null };
    history.${how}State(state, '', ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent('popstate', { state }));
  }`);

/** Waits until the effects of the screen have run, which register keyboard shortcuts and set the title. */
export const waitForEffects = (page: Page) =>
  page.waitForFunction("document.title.startsWith(document.querySelector('h1').textContent)");

/** Loads the console at this path and waits for its heading. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('h1').first().waitFor();
}

/** Navigates by way of a page that does not exist, to make sure that nothing of the former screen is left. */
export async function visit(page: Page, path: string): Promise<void> {
  const title = /^(页面不存在|Page not found)$/;
  await navigate(page, '/nowhere');
  await page.locator('h1', { hasText: title }).waitFor();
  await navigate(page, path, 'replace');
  await page.locator('h1').filter({ hasNotText: title }).first().waitFor();
}

/** Logs in with a request that sets the cookie of the page. Returns the access token. */
export async function createSession(
  page: Page,
  { tenantId = '000000', username = 'admin', password = PASSWORD }: Credentials = {},
) {
  const login = { tenantId, username, password };
  const response = await page.context().request.post('/auth/login?session=cookie', { data: login });
  assert.equal(response.status(), 200, await response.text());
  return (await response.json()).data.access_token as string;
}

/** Logs in with a request that sets the cookie, then loads the path. Tests of the login itself use `logInByForm`. */
export async function logIn(page: Page, credentials: Credentials = {}, path = '/home') {
  await createSession(page, credentials);
  await page.goto(path);
  await page.locator('.frame h1').waitFor();
}

/** Logs in with the login form, in either language. Ends at the path. */
export async function logInByForm(
  page: Page,
  { tenantId = '000000', username = 'admin', password = PASSWORD }: Credentials = {},
  path = '/home',
) {
  await open(page, path);
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

/** Leaves out what is slow and finds nothing serious: the rule about landmarks, and loading style sheets once more. */
const AXE_OPTIONS = { resultTypes: ['violations'], preload: false, rules: { region: { enabled: false } } };

/**
 * Examines a state of a screen, but only with `npm run test:long`. `npm test` examines every fourth screen once
 * (console/accessibility.test.ts), because axe takes more than half a second of CPU time each time.
 */
export async function expectAccessibleInLongRun(page: Page): Promise<void> {
  if (isLong) await expectAccessible(page);
}

/** Expects that axe-core finds no serious violation. It is injected through the debugger, past the content security policy. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
  // Wait for animations: contrast would be measured on half-transparent elements.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime < 5000).map((a) => a.finished.catch(() => 0))).then(() => 0)',
  );
  const findings = (await page.evaluate(
    `axe.run(${JSON.stringify(AXE_OPTIONS)}).then(({ violations }) => violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })) })))`,
  )) as Finding[];
  const serious = findings.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const violations = serious.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}\n  ${nodes
        .slice(0, 5)
        .map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`)
        .join('\n  ')}`,
  );
  assert.deepEqual(violations, []);
}

/** Expects that the content security policy blocked nothing and that no script threw. */
export function expectNoCspViolations(page: Page): void {
  const violations = pageErrors
    .get(page)
    ?.filter((text) => /content.security.policy|refused to|pageerror|^\w*Error:/i.test(text));
  assert.deepEqual(violations, []);
}

/** Takes a screenshot for the README, only with BANYAN_SCREENSHOTS=1: tests leave no files otherwise. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (process.env.BANYAN_SCREENSHOTS !== '1') return;
  const folder = path.resolve('docs/screenshots');
  fs.mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled' });
}
