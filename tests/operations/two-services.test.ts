import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertStopped, newFolder, type Run, start, startUnhurried, usedFolder } from '../support/process.ts';

test('of two first starts at the same moment one serves, the other is refused, and nothing is harmed', async () => {
  const dataDir = newFolder();
  const runs = [start(dataDir), start(dataDir)];
  const refused = await Promise.race(runs.map((run) => run.ended.then(() => run)));
  const serving = runs.find((run) => run !== refused) as Run;
  const id = await (await serving.admin()).createDepartment();
  expectFolderInUse(refused, serving, dataDir);
  assert.equal(await refused.ended, 1);
  assert.equal(await serving.stop(), 0);
  await assertStopped(dataDir);

  const next = startUnhurried(dataDir);
  assert.equal((await (await next.admin()).get(`/system/dept-api/${id}`)).code, 200);
  assert.equal(await next.stop(), 0);
});

test('services on folders of their own live side by side; a second one on the same folder is refused', async () => {
  const folders = [await usedFolder(), await usedFolder()];
  const runs = folders.map((dataDir) => startUnhurried(dataDir)) as [Run, Run];
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
  const sentence = `Banyan did not start. Another Banyan (process ${serving.child.pid}) is using the data folder ${dataDir}.`;
  assert.ok(run.stderr.includes(sentence), run.stderr);
  assert.match(run.stderr, /set BANYAN_DATA_DIR and PORT/);
  assert.doesNotMatch(run.stderr, /\n +at |Try it/);
}
