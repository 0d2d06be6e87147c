import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FairShares } from '../../server/http/fair-shares.ts';
import { InFlight } from '../../server/http/in-flight.ts';
import { defaultLimits } from '../../server/http/limits.ts';
import { LoadShedder } from '../../server/http/load-shedding.ts';

/** How the load shedder follows the throughput. Timers are mocked, so that the result does not depend on speed. */

const INTERVAL_MS = 100;
const [MIN, MAX] = [4, 100];

function createShedder(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval', 'setImmediate'] });
  const shedder = new LoadShedder({ ...defaultLimits, requests: { min: MIN, max: MAX } }, async () => new Map());
  t.after(() => shedder.close());
  return {
    nextInterval: () => t.mock.timers.tick(INTERVAL_MS),
    /** Sends a request without a token. Returns how to complete it, or undefined if it is rejected. */
    send(socket: object = { destroyed: false, pause() {} }): (() => void) | undefined {
      let held: { release(): void } | undefined;
      const request = { routeOptions: { config: {} }, raw: { socket }, ip: '127.0.0.1' };
      const reply = { raw: { hold: (member: typeof held) => (held = member) } };
      const error = shedder.admit(request as unknown as FastifyRequest, reply as unknown as FastifyReply);
      return error ? undefined : () => held?.release();
    },
  };
}

/** Fills all slots, counts and completes them. */
function countSlots({ send }: ReturnType<typeof createShedder>): number {
  const completions: (() => void)[] = [];
  for (let complete = send(); complete; complete = send()) completions.push(complete);
  for (const complete of completions) complete();
  return completions.length;
}

test('the limit rises at once to the number of requests completed in half a second, and falls when the service gets slower', (t) => {
  const shedder = createShedder(t);
  assert.equal(countSlots(shedder), MIN);
  shedder.nextInterval();
  assert.equal(countSlots(shedder), 5 * MIN, 'five intervals complete five times as many');
  shedder.nextInterval();
  assert.equal(countSlots(shedder), MAX);
  for (let n = 0; n < 2; n++) shedder.nextInterval();
  const falling = countSlots(shedder);
  assert.equal(falling, MAX, 'one slow interval does not matter');
  for (let n = 0; n < 50; n++) shedder.nextInterval();
  assert.equal(countSlots(shedder), MIN);
});

test('connections whose rejections exceed the limit of an interval are not read until a later one', (t) => {
  const shedder = createShedder(t);
  for (let n = 0; n < MIN; n++) assert.ok(shedder.send());
  const paused = new Set<number>();
  const socketOf = (n: number) => ({
    destroyed: false,
    pause: () => paused.add(n),
    resume: () => paused.delete(n),
  });
  for (let n = 0; n < 130; n++) assert.equal(shedder.send(socketOf(n)), undefined);
  t.mock.timers.tick(0);
  assert.deepEqual([paused.size, paused.has(49), paused.has(50)], [80, false, true]);
  shedder.nextInterval();
  assert.deepEqual(
    [paused.size, paused.has(99), paused.has(100)],
    [30, false, true],
    'the first ones are resumed first',
  );
  shedder.nextInterval();
  assert.equal(paused.size, 0);
});

test('a tenant that turns out to belong to a subtree counts there with all that it holds', () => {
  const LIMIT = 4;
  const shares = new FairShares();
  const [child, parent, other] = [
    shares.create('child', 'child'),
    shares.create('parent', 'parent'),
    shares.create('other', 'other'),
  ];
  for (let n = 0; n < LIMIT; n++) shares.add(child);
  shares.add(other);
  assert.ok(shares.isBelowShare(parent, LIMIT));
  shares.move(child, 'parent');
  assert.equal(shares.held, LIMIT + 1);
  assert.equal(shares.isBelowShare(parent, LIMIT), false, 'the subtree has twice its share');
  assert.ok(shares.isBelowShare(other, LIMIT));
  for (let n = 0; n < LIMIT; n++) child.release();
  assert.equal(shares.held, 1);
  assert.ok(shares.isBelowShare(parent, LIMIT));
  // Nobody else holds anything, so the whole limit is its share.
  assert.ok(shares.isBelowShare(other, 2));
});

test('a request that has been removed from those in flight does not remove the one that has taken its place', () => {
  const inFlight = new InFlight<string>();
  const removeFirst = inFlight.add('first');
  inFlight.add('second');
  inFlight.removeWhere((name) => name === 'first');
  const removeThird = inFlight.add('third');
  assert.equal(removeFirst(), false);
  assert.deepEqual([...inFlight].sort(), ['second', 'third']);
  assert.equal(removeThird(), true);
  assert.equal(removeThird(), false);
  for (const name of ['fourth', 'fifth']) inFlight.add(name);
  assert.deepEqual([...inFlight].sort(), ['fifth', 'fourth', 'second']);
});
