import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterFile } from './cleanup.ts';
import { project } from './process.ts';

/** Packs the client as it is published, and installs it into an empty project. */
export async function installClient() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-package-'));
  afterFile(() => fs.rmSync(folder, { recursive: true, force: true }));
  const run = (program: string, args: string[], env: Record<string, string> = {}) =>
    runIn(folder, program, args, { PATH: process.env.PATH ?? '', HOME: folder, ...env });
  const write = (name: string, content: unknown) => {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  };
  // The client has been built before the tests began.
  const npm = ['pack', path.join(project, 'client'), '--ignore-scripts', '--json', '--pack-destination', folder];
  const [packed] = JSON.parse(await run('npm', npm));
  write('package.json', { name: 'empty', version: '1.0.0', private: true });
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', path.join(folder, packed.filename)]);
  return {
    folder,
    /** The folder of the installed package. */
    installed: path.join(folder, 'node_modules/@banyan/client'),
    run,
    write,
  };
}

export async function runIn(
  cwd: string,
  program: string,
  args: string[],
  env: Record<string, string | undefined>,
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd, env }).catch((error) => {
    throw new Error(`${program} ${args.join(' ')}: ${error.stdout}${error.stderr}`);
  });
  return stdout;
}
