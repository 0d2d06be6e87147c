import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { COMMANDS } from '../../server/cli/commands.ts';
import { version } from '../../server/version.ts';
import { project } from '../support/process.ts';
import { scale } from '../support/scale.ts';

/** npx banyan, the one command of an installation. */

const { bin, scripts } = JSON.parse(fs.readFileSync(path.join(project, 'package.json'), 'utf8'));
const program = path.join(project, bin.banyan);

function banyan(...args: string[]) {
  const env = { PATH: process.env.PATH, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env });
  return { status, stdout, stderr };
}

test('help lists every command, and explains each', () => {
  const { status, stdout } = banyan('--help');
  assert.equal(status, 0);
  for (const [name, { summary }] of Object.entries(COMMANDS))
    assert.ok(stdout.includes(`${name.padEnd(16)}${summary}`));
  const ways = [
    ['help', 'export'],
    ['export', '--help'],
    ['export', '--to', 'x', '-h'],
  ];
  // Each call starts a process, so the everyday run asks in one way only.
  for (const args of ways.slice(0, scale(1, 3))) {
    const help = banyan(...args);
    assert.deepEqual([help.status, help.stderr], [0, '']);
    assert.match(help.stdout, /^ {2}npx banyan export --to folder$/m);
  }
  assert.equal(banyan('--version').stdout, `${version}\n`);
});

test('an unknown command is an error, and nothing is started', () => {
  for (const name of ['toString', 'strat', '--port'].slice(0, scale(1, 3))) {
    const { status, stdout, stderr } = banyan(name);
    assert.deepEqual([status, stdout], [1, '']);
    assert.ok(stderr.startsWith(`There is no command "${name}".`));
  }
});

test('every npm script for operators is a command, and a command gets its arguments', () => {
  const programs = Object.entries<string>(scripts).flatMap(([name, line]) =>
    /node dist\/server\/cli\/[\w-]+\.js$/.test(line) ? [name] : [],
  );
  assert.ok(programs.includes('backup'), String(programs));
  assert.deepEqual(
    programs.filter((name) => !Object.hasOwn(COMMANDS, name)),
    [],
  );
  const { status, stderr } = banyan('export');
  assert.deepEqual([status, stderr], [1, 'Specify a folder that does not exist yet: npx banyan export --to folder\n']);
  assert.match(banyan('export', '--from', 'x').stderr, /Unknown option '--from'/);
  const source = fs.readFileSync(program, 'utf8');
  assert.ok(source.startsWith('#!/usr/bin/env node\n'), 'npm links the program as it is');
});
