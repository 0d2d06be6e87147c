// The test reporter of a worker. It sends each result to scripts/test.js; that of a failed test includes the last lines of the
// service's log.
import { inspect } from 'node:util';
import { takeRecentLog } from '../dist/tests/support/logs.js';

/** @param {AsyncIterable<{ type: string, data: any }>} events */
export default async function* reporter(events) {
  for await (const { type, data } of events) {
    if (type === 'test:diagnostic' && data.nesting > 0) send({ type: 'note', text: data.message });
    if (type === 'test:stderr' || type === 'test:stdout') send({ type: 'note', text: data.message.trimEnd() });
    if (type === 'test:dequeue' && data.nesting > 0) send({ type: 'start', name: data.name });
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { name, nesting, details } = data;
    const failed = type === 'test:fail';
    const suite = details.type === 'suite';
    if (nesting === 0 && suite) send({ type: 'file', file: name, failed, error: failed ? textOf(details.error) : '' });
    else
      send({
        type: 'test',
        name,
        nesting,
        failed,
        suite,
        ms: details.duration_ms,
        skipped: data.skip,
        ...(failed ? failure(details) : {}),
      });
  }
  yield '';
}

/** @param {{ error: Error & { cause?: unknown, failureType?: string } }} details */
function failure({ error }) {
  // The parent of a failed subtest fails too, but only the subtest reports the error.
  if (error.failureType === 'subtestsFailed') return { error: '', log: [] };
  return { error: textOf(error), log: takeRecentLog() };
}

/** @param {{ cause?: unknown, failureType?: string, message?: string } | undefined} error */
function textOf(error) {
  if (!error || error.failureType === 'subtestsFailed') return '';
  return inspect(error.cause instanceof Error || error.cause ? error.cause : error, { depth: 4 });
}

/** @param {unknown} message */
const send = (message) => process.connected && process.send?.(message);
