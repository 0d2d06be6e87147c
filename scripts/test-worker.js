// Runs test files one after another in one process, so that modules and the browser are loaded only once. Each file is a
// suite with its own hooks. scripts/test.js sends the files; test-reporter.js sends the results.
import { after, afterEach, beforeEach, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { isLostWhileReadingTypes } from '../dist/db/driver.js';
import { describeHang, runAfterFile, runAfterTest, runAfterWorker, startTest } from '../dist/tests/support/cleanup.js';
import { assignToSuite, startTracking, stopTracking } from './test-tracking.js';

let isEnding = false;
/** Cleans up and exits, once: Ctrl-C reaches this process twice, from the terminal and from its parent. */
async function end(/** @type {number} */ code) {
  if (isEnding) return;
  isEnding = true;
  await runAfterFile().catch(console.error);
  await runAfterWorker().catch(console.error);
  process.exit(code);
}

// Add these hooks to the root before any suite exists: suites and tests copy the hooks of their parent when they are created.
// The hooks of a file run before the inherited `afterEach`, which closes what they use.
beforeEach(startTest);
afterEach(runAfterTest);

process.on('message', (/** @type {{ file: string } | 'end' | 'hang'} */ message) => {
  if (message === 'end') return end(0);
  if (message === 'hang') return reportHang();
  const { file } = message;
  startTracking();
  describe(file, async () => {
    assignToSuite();
    // Register the cleanup before the file is loaded, so that it also runs if loading fails.
    after(runAfterFile);
    try {
      await import(pathToFileURL(file).href);
    } finally {
      stopTracking();
    }
  });
});

/** Reports what a hanging file is doing. scripts/test.js kills this process a minute later. */
async function reportHang() {
  for (const text of await describeHang().catch((error) => [String(error)])) process.send?.({ type: 'hang', text });
}

/** Without its tracking, node:test does not know which test an uncaught error belongs to. */
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => {
    // The service ignores this too: see ignoreLostConnections.
    if (isLostWhileReadingTypes(error)) return;
    const statement = error?.query ? `\nstatement: ${error.query}` : '';
    process.send?.({ type: 'uncaught', error: `${inspect(error, { depth: 4 })}${statement}` });
  });
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => end(1));
process.on('disconnect', () => end(1));
process.send?.('ready');
