// Limits how node:test tracks what belongs to which test. node:test has a hook of async_hooks that runs for each promise of the
// process. With a service in the same process, this costs a seventh of the CPU time. The tests of a process run one after
// another, so the tracking is needed only while a file is loaded, to add its tests to its suite.
import asyncHooks from 'node:async_hooks';

const { createHook, executionAsyncId } = asyncHooks;
/** @type {import('node:async_hooks').AsyncHook | undefined} */
let hook;
let suiteId = 0;

/** The first hook is that of node:test, because this module is loaded before it (`--import` in scripts/test.js). */
asyncHooks.createHook = ({ init, destroy }) => {
  asyncHooks.createHook = createHook;
  hook = createHook({
    init(asyncId, type, triggerAsyncId, resource) {
      init?.(asyncId, type, suiteId || triggerAsyncId, resource);
    },
    destroy,
  });
  return hook;
};

/** Call before `describe`, which creates the suite of a file. */
export function startTracking() {
  suiteId = 0;
  hook?.enable();
}

/**
 * Call in the callback of `describe`. From now on everything belongs to the suite, including what is caused by a connection or a
 * promise that several files share.
 */
export function assignToSuite() {
  suiteId = executionAsyncId();
}

export function stopTracking() {
  hook?.disable();
}
