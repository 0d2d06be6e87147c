import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterFile } from './cleanup.ts';
import { runIn } from './client-package.ts';

/** Deno and Bun, from the npm registry. Their packages have the programs themselves; no install script has to run. */

export const DENO = '2.9.5';
export const BUN = '1.4.4';

const PACKAGES: Record<string, { deno: string; bun: string }> = {
  'linux-arm64': { deno: '@deno/linux-arm64-glibc', bun: '@oven/bun-linux-aarch64' },
  'linux-x64': { deno: '@deno/linux-x64-glibc', bun: '@oven/bun-linux-x64' },
  'darwin-arm64': { deno: '@deno/darwin-arm64', bun: '@oven/bun-darwin-aarch64' },
  'darwin-x64': { deno: '@deno/darwin-x64', bun: '@oven/bun-darwin-x64' },
};

/** What npm reports if it cannot reach the registry. */
const UNREACHABLE =
  /code (ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET\w+|E5\d\d)/;

/** Installs both. Returns the paths of the programs, or why they cannot be installed. */
export async function installRuntimes(): Promise<{ deno: string; bun: string } | { missing: string }> {
  const packages = PACKAGES[`${os.platform()}-${os.arch()}`];
  if (!packages) return { missing: `There is no Deno or no Bun for ${os.platform()} ${os.arch()}.` };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-runtimes-'));
  afterFile(() => fs.rmSync(folder, { recursive: true, force: true }));
  // Install outside the project, so that its lock file does not change.
  fs.writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1', '--fetch-retry-mintimeout=1000'];
  const names = [`${packages.deno}@${DENO}`, `${packages.bun}@${BUN}`];
  try {
    await runIn(folder, 'npm', ['install', ...options, ...names], process.env);
  } catch (error) {
    const [, code] = UNREACHABLE.exec(String(error)) ?? [];
    if (!code) throw error;
    return { missing: `The npm registry cannot be reached (${code}), so the client was not run in Deno and Bun.` };
  }
  const programOf = (name: string, file: string) => path.join(folder, 'node_modules', name, file);
  return { deno: programOf(packages.deno, 'deno'), bun: programOf(packages.bun, 'bin/bun') };
}
