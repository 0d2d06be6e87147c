// Only with test:long: it copies the project and runs the build five times; every npm test runs the build itself.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { copy } from '../support/packages.ts';
import { newDataFolder, project } from '../support/process.ts';

/** scripts/build.js, which `npm start` runs before each start. */

test('a build runs when the content of a source changes, and not when only its time does or the tests are missing', async () => {
  const root = path.join(path.dirname(newDataFolder()), 'app');
  fs.mkdirSync(root);
  for (const name of ['server', 'db', 'console', 'scripts', 'dist', 'package.json', 'tsconfig.json']) {
    copy(path.join(project, name), path.join(root, name), 'copy');
  }
  const build = () => spawnSync(process.execPath, ['scripts/build.js'], { cwd: root, encoding: 'utf8' });
  assert.deepEqual([build().status, build().stderr], [0, ''], 'there are no tests and no lock file');
  // A build fails without packages, so this error shows that one was needed.
  const changed = /The compiler is not installed/;
  const file = path.join(root, 'server/timing.ts');
  const text = fs.readFileSync(file, 'utf8');
  const { atime, mtime } = fs.statSync(file);
  fs.writeFileSync(file, `${text}\n`);
  fs.utimesSync(file, atime, mtime);
  assert.match(build().stderr, changed, 'the time of the file is the same');
  fs.writeFileSync(file, text);
  assert.equal(build().status, 0, 'the content is the same again');
  fs.rmSync(file);
  assert.match(build().stderr, changed, 'a deleted file is a change');
});
