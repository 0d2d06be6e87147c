import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

/** The shell without a window first: a page takes less than half the processor time there. */
const installed = [
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
const root = () => process.getuid?.() === 0;

/** A Chromium on this machine. Where there is none it is fetched; where that fails the tests fail, and say what to run. */
export function findChromium(): string {
  const told = process.env.BANYAN_CHROMIUM;
  if (told) {
    if (fs.existsSync(told)) return told;
    throw new Error(`BANYAN_CHROMIUM names ${told}, and there is no such file.`);
  }
  // While somebody fetches it, what is there may be half of it.
  return (fs.existsSync(lock) ? undefined : found()) ?? onlyOnce(fetched);
}

const lock = path.join(os.tmpdir(), `banyan-chromium-${process.getuid?.() ?? 0}.lock`);

const found = () => [...installed, ...downloaded()].find((file) => fs.existsSync(file));

/** Where Playwright keeps what it downloads: the whole browser, or the one without a window. */
function downloaded(): string[] {
  const home = os.homedir();
  const caches = [
    process.env.PLAYWRIGHT_BROWSERS_PATH,
    `${home}/.cache/ms-playwright`,
    `${home}/Library/Caches/ms-playwright`,
  ];
  const programs = ['headless_shell', 'chrome-headless-shell', 'chrome', 'Chromium', 'Google Chrome for Testing'];
  return [chromium.executablePath(), ...caches.flatMap((cache) => (cache ? below(cache, programs) : []))];
}

function below(folder: string, programs: string[]): string[] {
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /^chromium/.test(name) && programs.includes(path.basename(name)))
    .map((name) => path.join(folder, name));
}

function fetched(): string {
  const failures: string[] = [];
  const attempt = (program: string, args: string[]) => {
    console.error(`No Chromium is here. Fetching one: ${path.basename(program)} ${args.join(' ')} …`);
    try {
      execFileSync(program, args, {
        stdio: ['ignore', 2, 2],
        timeout: 300_000,
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      });
    } catch (error) {
      failures.push(String((error as Error).message).split('\n')[0] ?? '');
    }
    return found();
  };
  if (root() && fs.existsSync('/usr/bin/apt-get')) {
    attempt('apt-get', ['update', '-q']);
    const here = attempt('apt-get', [
      'install',
      '-y',
      '-q',
      '--no-install-recommends',
      'chromium-headless-shell',
      'fonts-noto-cjk',
    ]);
    if (here) return here;
    // Where the distribution has no such package.
    const whole = attempt('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'chromium', 'fonts-noto-cjk']);
    if (whole) return whole;
  }
  const here = attempt('npx', ['--no-install', ...DOWNLOAD]);
  if (here) return here;
  const line =
    process.platform === 'linux' ? `sudo apt-get install -y chromium fonts-noto-cjk` : `npx ${DOWNLOAD.join(' ')}`;
  throw new Error(
    `The console is tested in a real Chromium, and none could be had (${failures.join('; ')}).\nRun this, then npm test again:\n  ${line}\nor name one: BANYAN_CHROMIUM=/path/to/chromium npm test`,
  );
}

/** Test files run beside each other: one of them fetches, the others wait for it. */
function onlyOnce(work: () => string): string {
  const until = Date.now() + 600_000;
  for (;;) {
    try {
      fs.mkdirSync(lock);
      break;
    } catch {
      // What a killed run left does not hold anybody up for ever.
      const since = fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - since > 600_000 || Date.now() > until) fs.rmSync(lock, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    }
  }
  try {
    return found() ?? work();
  } finally {
    fs.rmSync(lock, { recursive: true, force: true });
  }
}

/** Called once before the tests: fetching a browser is a step of its own, not a part of the first test that needs it. */
export const prepareChromium = (): void => void findChromium();
