import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstSeed, report, scale, Tally } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { type Command, lookAround, sequence } from './commands.ts';
import { type Expected, reasons } from './model.ts';
import type { Request } from './state.ts';
import { World } from './world.ts';

const service = await startService({ BANYAN_ACCESS_TOKEN_SECONDS: '86400' });

/** Worlds that are at work at the same time; each has a seed and sequences of its own. */
const LANES = scale(2, 4);
const SEQUENCES = scale(60, 5_000);

const words = (...parts: (string | undefined | false)[]) => parts.filter(Boolean).join(' ');

function told({ caller, method, path, query, body, key, ifMatch }: Request): string {
  const asked = new URLSearchParams(query).toString();
  const json = body === undefined ? '' : JSON.stringify(body);
  const address = asked ? `${path}?${asked}` : path;
  return words(caller, method, address, json, key && `Idempotency-Key: ${key}`, ifMatch && `If-Match: ${ifMatch}`);
}

function wanted({ outcome, refusals, kept }: Expected): string {
  const reasons = refusals.map(({ reason, facts }) => words(reason, facts && JSON.stringify(facts)));
  return [kept && 'the same again', outcome && 'done', ...reasons].filter(Boolean).join(' or ');
}

test('whatever is asked in whatever order, the service answers like a model of its documents', async (t) => {
  const tally = new Tally();
  let requests = 0;
  /** The lane that found a difference first: it goes on to shorten its sequence, the others come to their end. */
  let finder: number | undefined;

  /** Throws with all that was sent and answered, when an answer differs from the model's. */
  async function compare(world: World, commands: Command[]): Promise<void> {
    const model = await world.begin();
    const story: string[] = [];
    const earlier: Request[] = [];
    for (const command of [...commands, ...lookAround]) {
      const request = command(model.state, earlier);
      earlier.push(request);
      const { expected, answer, difference } = await world.step(model, request);
      requests++;
      tally.add(expected.kept ? 'repeated' : (answer.data?.reason ?? 'done'));
      story.push(`${told(request)} → ${difference ? answer.text : (answer.data?.reason ?? 'done')}`);
      if (difference) throw new Error(`${story.join('\n')}\n${difference}; the model says: ${wanted(expected)}`);
    }
  }

  async function runLane(lane: number): Promise<unknown> {
    const world = await World.make(service);
    const holds = fc.asyncProperty(sequence, async (commands) => {
      if (finder !== undefined && finder !== lane) return;
      await compare(world, commands).catch((difference) => {
        finder ??= lane;
        throw difference;
      });
    });
    const seed = firstSeed + lane;
    const { failed, numRuns, numShrinks, errorInstance } = await fc.check(holds, {
      seed,
      numRuns: Math.ceil(SEQUENCES / LANES),
    });
    if (failed) report(t, { seed, sequence: numRuns, shrinks: numShrinks });
    return errorInstance;
  }

  const differences = (await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)))).filter(Boolean);
  report(t, { seed: firstSeed, lanes: LANES, sequences: SEQUENCES, requests, ...tally.counts });
  if (differences.length > 0) throw differences[0];
  // Rules that no sequence comes to prove nothing. So many wrong passwords in a row are another test's matter.
  const unseen = reasons.filter((reason) => tally.get(reason) === 0 && reason !== 'TOO_MANY_LOGINS');
  assert.ok(unseen.length <= scale(reasons.length / 3, 0), unseen.join());
});
