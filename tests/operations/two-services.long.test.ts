// Only with test:long: each test starts three services; two-services.test.ts opens one data folder twice in-process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertStopped,
  newDataFolder,
  type Run,
  start,
  startWithoutDeadlines,
  usedDataFolder,
} from '../support/process.ts';

test('of two concurrent first starts on one folder one serves and the other fails, and the data stays intact', async () => {
  const dataDir = newDataFolder();
  const runs = [start(dataDir), start(dataDir)];
  const rejected = await Promise.race(runs.map((run) => run.ended.then(() => run)));
  const serving = runs.find((run) => run !== rejected) as Run;
  const id = await (await serving.admin()).createDepartment();
  expectFolderInUse(rejected, serving, dataDir);
  assert.equal(await rejected.ended, 1);
  assert.equal(await serving.stop(), 0);
  await assertStopped(dataDir);

  const next = startWithoutDeadlines(dataDir);
  assert.equal((await (await next.admin()).get(`/system/dept-api/${id}`)).code, 200);
  assert.equal(await next.stop(), 0);
});

test('services on separate folders run side by side, and a second one on the same folder fails', async () => {
  const folders = [await usedDataFolder(), await usedDataFolder()];
  const runs = folders.map((dataDir) => startWithoutDeadlines(dataDir)) as [Run, Run];
  const [one, two] = await Promise.all(runs.map((run) => run.admin()));
  assert.ok(one && two);
  assert.notEqual(one.base, two.base);
  const id = await one.createDepartment({ deptName: 'here' });
  assert.equal((await two.get(`/system/dept-api/${id}`)).code, 404);
  const second = start(folders[0] as string);
  assert.equal(await second.ended, 1);
  expectFolderInUse(second, runs[0], folders[0] as string);
  await one.createDepartment();
  assert.equal(await runs[0].stop(), 0);
  await two.createDepartment();
  assert.equal(await runs[1].stop(), 0);
  for (const dataDir of folders) await assertStopped(dataDir);
});

function expectFolderInUse(run: Run, serving: Run, dataDir: string) {
  const sentence = `Banyan did not start. Another Banyan (process ${serving.child.pid}) is using the data directory ${dataDir}.`;
  assert.ok(run.stderr.includes(sentence), run.stderr);
  assert.match(run.stderr, /set BANYAN_DATA_DIR and PORT/);
  assert.doesNotMatch(run.stderr, /\n +at |Try it/);
}
