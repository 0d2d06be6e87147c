import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { MAX_DELAY_MS } from './scale.ts';

/** The headless shell comes first: a page takes less than half the CPU time there. */
const systemPaths = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const DOWNLOAD = ['playwright-core', 'install', 'chromium-headless-shell'];
const isRoot = () => process.getuid?.() === 0;

/** Returns the path of Chromium. Installs it if it is missing; if that fails, the error says what to run. */
export function findChromium(): string {
  const configured = process.env.BANYAN_CHROMIUM;
  if (configured) {
    if (fs.existsSync(configured)) return configured;
    throw new Error(`BANYAN_CHROMIUM is ${configured}, but there is no such file.`);
  }
  // While another process installs it, the files may be incomplete.
  return (fs.existsSync(lock) ? undefined : findInstalled()) ?? withLock(install);
}

const lock = path.join(os.tmpdir(), `banyan-chromium-${process.getuid?.() ?? 0}.lock`);

const findInstalled = () => [...systemPaths, ...downloadedPaths()].find((file) => fs.existsSync(file));

/** Returns the paths of browsers and headless shells that Playwright has downloaded. */
function downloadedPaths(): string[] {
  const home = os.homedir();
  const caches = [
    process.env.PLAYWRIGHT_BROWSERS_PATH,
    `${home}/.cache/ms-playwright`,
    `${home}/Library/Caches/ms-playwright`,
  ];
  const programs = ['headless_shell', 'chrome-headless-shell', 'chrome', 'Chromium', 'Google Chrome for Testing'];
  return [chromium.executablePath(), ...caches.flatMap((cache) => (cache ? findPrograms(cache, programs) : []))];
}

function findPrograms(folder: string, programs: string[]): string[] {
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /^chromium/.test(name) && programs.includes(path.basename(name)))
    .map((name) => path.join(folder, name));
}

function install(): string {
  const failures: string[] = [];
  const attempt = (program: string, args: string[]) => {
    console.error(`No Chromium found. Installing one: ${path.basename(program)} ${args.join(' ')} …`);
    try {
      execFileSync(program, args, {
        stdio: ['ignore', 2, 2],
        timeout: 300_000,
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      });
    } catch (error) {
      failures.push(String((error as Error).message).split('\n')[0] ?? '');
    }
    return findInstalled();
  };
  if (isRoot() && fs.existsSync('/usr/bin/apt-get')) {
    attempt('apt-get', ['update', '-q']);
    const shell = attempt('apt-get', [
      'install',
      '-y',
      '-q',
      '--no-install-recommends',
      'chromium-headless-shell',
      'fonts-noto-cjk',
    ]);
    if (shell) return shell;
    // Some distributions have no package of the headless shell.
    const browser = attempt('apt-get', [
      'install',
      '-y',
      '-q',
      '--no-install-recommends',
      'chromium',
      'fonts-noto-cjk',
    ]);
    if (browser) return browser;
  }
  const download = attempt('npx', ['--no-install', ...DOWNLOAD]);
  if (download) return download;
  const command =
    process.platform === 'linux' ? `sudo apt-get install -y chromium fonts-noto-cjk` : `npx ${DOWNLOAD.join(' ')}`;
  throw new Error(
    `The tests of the console need a Chromium, and none could be installed (${failures.join('; ')}).\nRun this, then npm test again:\n  ${command}\nor set its path: BANYAN_CHROMIUM=/path/to/chromium npm test`,
  );
}

/** Runs `work` in one process while the others wait: test files run in several processes. */
function withLock(work: () => string): string {
  const until = Date.now() + 600_000;
  for (;;) {
    try {
      fs.mkdirSync(lock);
      break;
    } catch {
      // Remove a stale lock that a killed run has left.
      const since = fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - since > 600_000 || Date.now() > until) fs.rmSync(lock, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    }
  }
  try {
    return findInstalled() ?? work();
  } finally {
    fs.rmSync(lock, { recursive: true, force: true });
  }
}

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium(),
    // Chromium's sandbox refuses to run as root.
    args: isRoot() ? ['--no-sandbox'] : [],
    // With BANYAN_TEST_DELAY_MS, each action is delayed until late elements have probably loaded: a locator that also matches
    // one of them then fails.
    slowMo: MAX_DELAY_MS,
  });
