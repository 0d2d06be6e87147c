// Runs test files, one after another, in one process: modules are loaded once, and so is the browser. Each file is a
// suite, so that its hooks are its own. scripts/test.js sends the files; the reporter beside this file sends the results.
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { describeHang, runAfterFile, runAfterWorker } from '../dist/tests/support/cleanup.js';

let isEnding = false;
/** Ends once, however many signals come: Ctrl-C reaches this process from the terminal and from its parent. */
async function end(/** @type {number} */ code) {
  if (isEnding) return;
  isEnding = true;
  await runAfterFile().catch(console.error);
  await runAfterWorker().catch(console.error);
  process.exit(code);
}

process.on('message', (/** @type {{ file: string } | 'end' | 'hang'} */ message) => {
  if (message === 'end') return end(0);
  if (message === 'hang') return tellHang();
  const { file } = message;
  describe(file, async () => {
    // Registered before the file is loaded: one that fails halfway is cleaned up, too.
    after(runAfterFile);
    await import(pathToFileURL(file).href);
  });
});
/** scripts/test.js ends this process a minute later. */
async function tellHang() {
  for (const text of await describeHang().catch((error) => [String(error)])) process.send?.({ type: 'hang', text });
}

for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => end(1));
process.on('disconnect', () => end(1));
process.send?.('ready');
