import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FairShares, type Member } from '../../server/http/fair-shares.ts';
import { InFlight } from '../../server/http/in-flight.ts';
import { defaultLimits } from '../../server/http/limits.ts';
import { LoadShedder } from '../../server/http/load-shedding.ts';
import { TopLevelTenants } from '../../server/http/top-level-tenants.ts';
import { TrackedResponse } from '../../server/http/tracked-response.ts';
import { waitFor } from '../support/wait.ts';

/** How the load shedder follows the throughput. Timers are mocked, so that the result does not depend on speed. */

const INTERVAL_MS = 100;
const [MIN, MAX] = [4, 100];

function createShedder(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval', 'setImmediate'] });
  const shedder = new LoadShedder({ ...defaultLimits, requests: { min: MIN, max: MAX } }, async () => new Map());
  t.after(() => shedder.close());
  return {
    nextInterval: () => t.mock.timers.tick(INTERVAL_MS),
    /**
     * Sends a request without a token. `held` is what its response holds: a slot, or the rejection while it waits. It is undefined
     * if the request was rejected at once.
     */
    send({ onReject = () => {}, hasEnded = false } = {}): { held?: { release(): void } } {
      const response: { held?: { release(): void } } = {};
      const request = { routeOptions: { config: {} }, raw: { socket: { destroyed: false } }, ip: '127.0.0.1' };
      const raw = {
        writableEnded: hasEnded,
        hold: (held: { release(): void }) => {
          response.held = held;
        },
      };
      shedder.admit(
        request as unknown as FastifyRequest,
        { raw, pending: null } as unknown as FastifyReply,
        (error) => {
          if (error) onReject();
        },
      );
      return response;
    },
    /** Sends a request whose token is verified before it gets its slot, and completes it. */
    completeWithToken() {
      const request = { routeOptions: { config: {} }, raw: { socket: { destroyed: false } }, ip: '127.0.0.1' };
      const raw = new TrackedResponse({ method: 'GET' } as IncomingMessage);
      const admit = () =>
        shedder.admit(request as unknown as FastifyRequest, { raw } as unknown as FastifyReply, (error) =>
          assert.equal(error, undefined),
        );
      admit();
      shedder.takeBack({ raw } as unknown as FastifyReply);
      admit();
      raw.release();
    },
    usage: () => shedder.usage(),
  };
}

/** Fills all slots, counts and completes them. */
function countSlots({ send, usage }: ReturnType<typeof createShedder>): number {
  const requests: ReturnType<typeof send>[] = [];
  for (const rejected = usage().shed.slot; usage().shed.slot === rejected; ) requests.push(send());
  // The last one was rejected.
  requests.pop()?.held?.release();
  for (const { held } of requests) held?.release();
  return requests.length;
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

test('a request whose token had to be verified counts as completed once', (t) => {
  const shedder = createShedder(t);
  for (let n = 0; n < MIN; n++) shedder.completeWithToken();
  shedder.nextInterval();
  assert.equal(shedder.usage().slots.limit, 5 * MIN);
  assert.equal(shedder.usage().slots.held, 0);
});

test('rejections beyond the limit of an interval are sent in later ones, in order', (t) => {
  const shedder = createShedder(t);
  for (let n = 0; n < MIN; n++) shedder.send();
  const rejected: number[] = [];
  for (let n = 0; n < 130; n++) shedder.send({ onReject: () => rejected.push(n) });
  assert.equal(rejected.length, 50);
  shedder.nextInterval();
  assert.equal(rejected.length, 100);
  shedder.nextInterval();
  assert.deepEqual(
    rejected,
    Array.from({ length: 130 }, (_, n) => n),
  );
  assert.equal(shedder.usage().slots.held, MIN);
});

test('a rejection is forgotten when its client disconnects', (t) => {
  const shedder = createShedder(t);
  for (let n = 0; n < MIN; n++) shedder.send();
  let rejected = 0;
  const requests = Array.from({ length: 100 }, () => shedder.send({ onReject: () => rejected++ }));
  for (const { held } of requests) held?.release();
  assert.equal(shedder.usage().waitingRejections, 0);
  shedder.nextInterval();
  assert.equal(rejected, 50);
});

test('a request whose response has been sent before its token was verified takes no slot', (t) => {
  const shedder = createShedder(t);
  for (let n = 0; n < 10 * MIN; n++) assert.deepEqual(shedder.send({ hasEnded: true }), {});
  assert.equal(shedder.usage().slots.held, 0);
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

test('a tenant counts below its top-level tenant also where it held nothing when that was looked up', async () => {
  const [slots, subscribers] = [new FairShares(), new FairShares()];
  const topLevel = new TopLevelTenants([slots, subscribers], async () => new Map([['child', 'parent']]));
  const [busy, idle] = [slots, subscribers].map((shares) => shares.create('child', topLevel.of('child')));
  slots.add(busy as Member);
  topLevel.lookUpMissing();
  await waitFor('its top-level tenant has been looked up', () => busy?.group.name === 'parent');
  assert.equal(idle?.group.name, 'parent');
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
