import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { project } from './process.ts';

/** Copies a file or a folder. With 'link', creates hard links where possible: packages have thousands of files. */
export function copy(from: string, to: string, how: 'copy' | 'link') {
  fs.mkdirSync(path.dirname(to), { recursive: true });
  const options = how === 'link' ? ['-PRl', '-PR'] : ['-PR'];
  const results = options.map((option) => () => spawnSync('cp', [option, from, to], { encoding: 'utf8' }));
  if (results.some((run) => run().status === 0)) return;
  assert.fail(`${from} could not be copied`);
}

/** Puts the packages of the project into a folder, as `npm ci` does, with or without those for development. */
export function copyPackages(to: string, { dev }: { dev: boolean }) {
  if (dev) {
    copy(path.join(project, 'node_modules'), path.join(to, 'node_modules'), 'link');
    // npm writes this file in place, so it must not be a link.
    const list = 'node_modules/.package-lock.json';
    fs.rmSync(path.join(to, list));
    copy(path.join(project, list), path.join(to, list), 'copy');
    return;
  }
  const lock = JSON.parse(fs.readFileSync(path.join(project, 'package-lock.json'), 'utf8'));
  for (const [name, { dev: isDev }] of Object.entries<Record<string, boolean>>(lock.packages)) {
    if (name === '' || isDev || !fs.existsSync(path.join(project, name))) continue;
    const target = path.join(to, name);
    // A nested package has been copied together with the package that contains it.
    if (!fs.existsSync(target)) copy(path.join(project, name), target, 'link');
  }
  // npm installs a package again if the links to its programs are missing.
  const [from, links] = [path.join(project, 'node_modules/.bin'), path.join(to, 'node_modules/.bin')];
  fs.mkdirSync(links);
  for (const name of fs.readdirSync(from)) {
    const target = fs.readlinkSync(path.join(from, name));
    if (fs.existsSync(path.join(links, target))) fs.symlinkSync(target, path.join(links, name));
  }
}
