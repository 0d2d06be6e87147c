import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { type Browser, firefox } from 'playwright-core';

/**
 * Runs the console's tests in the Firefox of the system, through WebDriver BiDi. Playwright's own build of Firefox has to be
 * downloaded; this one comes with the distribution.
 *
 * Playwright (1.65) does not document this yet: it takes a channel whose name starts with `moz-`. To emulate media features,
 * Playwright sends a command that Firefox (153) does not know. `replaceUnknownCommands` replaces it with a script in Firefox's
 * own window, which needs private fields of playwright-core. If they change with a new version, only the tests in Firefox fail.
 */

const systemPaths = [
  '/usr/bin/firefox-esr',
  '/usr/bin/firefox',
  '/snap/bin/firefox',
  '/Applications/Firefox.app/Contents/MacOS/firefox',
];

/** The files that `npm run test:long` also runs in Firefox. console/README.md says why others fail there. */
export const FIREFOX_FILES = [
  'console/home',
  'console/home.long',
  'console/login',
  'console/login.long',
  'console/me',
  'console/me.long',
  'console/restore',
  'console/restore.long',
  'console/role-change',
  'console/session-user-switch',
  'console/tenants',
  'console/unchanged-saves',
];

const PREFERENCES = {
  // Grants what tests in Chromium request with `grantPermissions`: Firefox has no permission for the clipboard.
  'dom.events.testing.asyncClipboard': true,
  // The downloads panel would take the keyboard focus from the page.
  'browser.download.alwaysOpenPanel': false,
};

/** Returns the path of an installed Firefox, if there is one. */
export const findFirefox = (): string | undefined =>
  [process.env.BANYAN_FIREFOX ?? '', ...systemPaths].find((file) => fs.existsSync(file));

/** Returns the path of Firefox. Installs it if possible; otherwise the error says what to run. */
export function requireFirefox(): string {
  const installed = findFirefox();
  if (installed) return installed;
  if (process.getuid?.() === 0 && fs.existsSync('/usr/bin/apt-get'))
    // Without a network this fails, and the error below says what to run.
    spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'firefox-esr'], {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  const file = findFirefox();
  if (file) return file;
  throw new Error('No Firefox found. Run sudo apt-get install -y firefox-esr, or set BANYAN_FIREFOX to its path.');
}

/**
 * `fill` assigns the value in the page. React does not notice that, because it overrides the property of each field. The editing
 * command inserts text as if a user had typed it.
 */
const INSERT_TEXT = `Object.defineProperty(window, '__pw_bidiInsertText', {
  get: () => (text) => void document.execCommand('insertText', false, text),
  set() {},
})`;

export async function launchFirefox(): Promise<Browser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: requireFirefox(),
    // Scripts may run in Firefox's own window, to change preferences.
    args: ['--remote-allow-system-access'],
    firefoxUserPrefs: PREFERENCES,
  });
  await replaceUnknownCommands(browser);
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    await context.addInitScript(INSERT_TEXT);
    return context;
  };
  return browser;
}

interface MediaFeatures {
  media?: string | undefined;
  colorScheme?: string | undefined;
  reducedMotion?: string | undefined;
}
interface BidiMessage {
  method?: string;
  params?: { navigation?: string | null; url?: string };
}
interface BidiSession {
  send(method: string, params: Record<string, unknown>): Promise<unknown>;
  dispatchMessage(message: BidiMessage): void;
}
/** The server's side of a browser: playwright-core runs it in the same process. */
interface BrowserImplementation {
  _browserSession: BidiSession;
  _bidiPages: Map<string, { _page: { emulatedMedia(): MediaFeatures } }>;
}

async function replaceUnknownCommands(browser: Browser): Promise<void> {
  const connection = (browser as unknown as { _connection: { toImpl(object: unknown): BrowserImplementation } })
    ._connection;
  const { _browserSession: session, _bidiPages: pages } = connection.toImpl(browser);
  const prototype = Object.getPrototypeOf(session) as BidiSession;
  const { send, dispatchMessage } = prototype;
  const windows = (await session.send('browsingContext.getTree', { 'moz:scope': 'chrome' })) as {
    contexts: { context: string }[];
  };
  const emulate = (page: string, media: MediaFeatures) =>
    send.call(session, 'script.evaluate', {
      target: { context: windows.contexts[0]?.context },
      expression: emulationScript(page, media),
      awaitPromise: false,
    });
  prototype.send = function (this: BidiSession, method, params) {
    if (method === 'emulation.setMediaFeaturesOverride') {
      const [page = ''] = (params.contexts ?? []) as string[];
      const { 'prefers-color-scheme': colorScheme } = params.features as Record<string, string | undefined>;
      // The command contains only the colour scheme. For a new context it names no page.
      return emulate(page, pages.get(page)?._page.emulatedMedia() ?? { colorScheme });
    }
    // PREFERENCES grants them.
    if (method === 'permissions.setPermission' && /clipboard/.test(JSON.stringify(params))) return Promise.resolve({});
    return send.call(this, method, params);
  };
  // Playwright ignores a download without a navigation, such as one that a script has created.
  prototype.dispatchMessage = function (this: BidiSession, { ...message }) {
    const { method = '', params } = message;
    if (/download(WillBegin|End)$/.test(method) && params?.url)
      message.params = { ...params, navigation: params.navigation ?? params.url };
    return dispatchMessage.call(this, message);
  };
}

/** Colour scheme and reduced motion are preferences of the browser, so they apply to all its pages. */
const emulationScript = (page: string, { media, colorScheme, reducedMotion }: MediaFeatures) => `{
  Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', ${colorScheme === 'dark' ? 0 : 1});
  Services.prefs.setIntPref('ui.prefersReducedMotion', ${reducedMotion === 'no-preference' ? 0 : 1});
  const { NavigableManager } = ChromeUtils.importESModule('chrome://remote/content/shared/NavigableManager.sys.mjs');
  const tab = ${page ? `NavigableManager.getBrowsingContextById('${page}')` : 'null'};
  if (tab) tab.top.mediumOverride = '${media === 'print' ? 'print' : ''}';
}`;
