import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartupError } from '../../db/startup-error.ts';
import { type Environment, readConfig, settings } from '../../server/config.ts';
import type { Expectation, Setting } from './config-values.ts';
import { databaseSettings } from './config-values-database.ts';
import { interfaceSettings } from './config-values-interfaces.ts';
import { limitSettings } from './config-values-limits.ts';

/** One entry for each setting: the type makes the compiler report missing ones. */
const expected: Record<Setting, Expectation> = { ...databaseSettings, ...limitSettings, ...interfaceSettings };
const names = Object.keys(expected) as Setting[];

/** Returns the message with which an environment is rejected. */
function errorOf(environment: Environment): string {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof StartupError, String(error));
    return error.message;
  }
  return assert.fail(`accepted: ${JSON.stringify(environment)}`);
}

for (const name of names) {
  const { unset, valid, invalid } = expected[name];
  const [key, defaultValue] = unset;

  test(`${name} has its default when it is unset or blank`, () => {
    for (const environment of [{}, { [name]: '' }, { [name]: '  ' }, { [name]: undefined }]) {
      assert.deepEqual(readConfig(environment)[key], defaultValue);
    }
    assert.ok(settings[name].meaning.length > 10);
  });

  test(`${name} accepts valid values`, () => {
    for (const [text, value] of valid) assert.deepEqual(readConfig({ [name]: text })[key], value, text);
  });

  if (invalid.length === 0) continue;
  test(`${name} rejects invalid values with a message that names it`, () => {
    for (const text of invalid) {
      const message = errorOf({ [name]: text });
      assert.match(message, new RegExp(`^Invalid settings:\\n  ${name}\\b.*must `), text);
      if (/PASSWORD|URL/.test(name)) assert.ok(!/secret-|🌳/.test(message), `the message repeats a secret: ${message}`);
      else assert.ok(message.includes(`"${text}"`), message);
    }
  });
}

test('only the listed settings are read', () => {
  assert.deepEqual(Object.keys(readConfig({})).length, names.length);
  assert.deepEqual(readConfig({ NODE_ENV: 'production', BANYAN_PORT: '1', port: '2' }), readConfig({}));
});

test('folders for backups and archives are rejected with DATABASE_URL, because they are for the embedded database', () => {
  for (const name of ['BANYAN_WAL_ARCHIVE', 'BANYAN_BACKUP_FOLDER']) {
    const message = errorOf({ DATABASE_URL: 'postgres://me@host/db', [name]: '/srv/folder' });
    assert.match(message, new RegExp(`${name} "/srv/folder": must not be set if DATABASE_URL is set`));
  }
});

test('the config is frozen', () => {
  assert.ok(Object.isFrozen(readConfig({})));
});

test('one message lists all invalid settings', () => {
  const invalid = names.filter((name) => expected[name].invalid.length > 0);
  const message = errorOf(Object.fromEntries(invalid.map((name) => [name, expected[name].invalid[0]])));
  const lines = message.split('\n').slice(1);
  assert.deepEqual(lines.map((line) => line.trim().split(/[ :]/)[0]).sort(), [...invalid].sort());
});
