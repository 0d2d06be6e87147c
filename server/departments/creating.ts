import type { FastifyRequest } from 'fastify';
import type { Database } from '../../db/connect.ts';
import { type Asked, gather } from '../../db/gather.ts';
import { codeOf, commitWith } from '../../db/sql.ts';
import { isGivenUp, type Origin, writeInTenant } from '../../db/tenancy.ts';
import { nameCallers, originOf, writeAs } from '../auth/caller.ts';
import type { Token } from '../auth/tokens.ts';
import { Refusal, refuse } from '../http/refusals.ts';
import type { Timing } from '../timing.ts';
import { createDepartment, createDepartments, holdParents } from './departments.ts';
import type { DeptInput } from './schema.ts';

/** 'alone': it has to be made apart from the others. */
type Creating = Asked<{ token: Token; origin: Origin; input: DeptInput; since: number }, number | 'alone'>;

/**
 * Creating departments. Those that come at the same moment share a transaction, and so one wait for the disk; each is
 * made or refused on its own, and told once all is committed. A key to repeat it by, or a parent that somebody holds,
 * takes a request out of the crowd.
 */
export function makeCreator({
  db,
  timing: { responseMs },
}: {
  db: Database;
  timing: Timing;
}): (request: FastifyRequest<{ Body: DeptInput }>) => Promise<number> {
  async function create(tenantId: string, asked: Creating[]): Promise<void> {
    const outcomes = await tryTogether(tenantId, asked).catch((error) => {
      // One of them is at fault; the others shall not be told so.
      if (/^2[23]/.test(codeOf(error))) return asked.map(() => 'alone' as const);
      throw error;
    });
    for (const [n, { resolve, reject }] of asked.entries()) {
      const outcome = outcomes[n] as number | Refusal | 'alone';
      if (outcome instanceof Refusal) reject(outcome);
      else resolve(outcome);
    }
  }

  const tryTogether = (tenantId: string, asked: Creating[]) =>
    writeInTenant(db, tenantId, async (tx) => {
      const tokens = asked.map(({ ask }) => ask.token);
      const inputs = asked.map(({ ask }) => ask.input);
      // Sent together: who may not, has held a parent for a moment.
      const [named, parents] = await Promise.all([
        nameCallers(tx, tenantId, tokens, 'administrator'),
        holdParents(tx, tenantId, inputs, { wait: false }),
      ]);
      const inTime = named.map((caller, n) =>
        isGivenUp(asked[n]?.ask.since ?? 0, responseMs) ? refuse('TOO_BUSY') : caller,
      );
      const allowed = asked.flatMap(({ ask: { input, origin } }, n) => {
        const caller = inTime[n];
        return caller && !(caller instanceof Refusal) ? [{ caller, input, origin }] : [];
      });
      const made = await createDepartments(tx, tenantId, allowed, {
        wait: false,
        parents,
        last: (insert) => commitWith(tx, insert),
      });
      return inTime.map((caller) => (caller instanceof Refusal ? caller : (made.shift() as (typeof made)[number])));
    });

  // Most of each is waiting for the disk. The tenant's other writes keep one of its four places.
  const together = gather(create, { underWay: 3, together: 100 });
  return async (request) => {
    const since = performance.now();
    const { token, body: input, headers } = request;
    const alone = headers['idempotency-key'] !== undefined;
    const made = alone ? 'alone' : await together(token.tenantId, { token, input, origin: originOf(request), since });
    if (made !== 'alone') return made;
    return writeAs(db, request, 'administrator', (tx, caller) => createDepartment(tx, caller, input), since);
  };
}
