import type { Database } from '../../db/connect.ts';
import { type Asked, gather } from '../../db/gather.ts';
import { readInTenant } from '../../db/tenancy.ts';
import { type CallerRow, callerOr, nameCallers } from '../auth/caller.ts';
import type { Token } from '../auth/tokens.ts';
import { Refusal } from '../http/refusals.ts';
import { readWithPaths } from './departments.ts';
import { ancestorsOf, makePaths } from './paths.ts';
import { readWithCallers, showFound } from './queries.ts';
import type { Dept } from './schema.ts';

/** What a request asks for. */
export interface DeptAsk {
  deptId: string;
  includeDeleted: boolean;
}

export type DeptReader = (token: Token, ask: DeptAsk) => Promise<Dept | undefined>;

type Reading = Asked<DeptAsk & { token: Token }, Dept | undefined>;

/**
 * Reads of single departments, the call that comes most often. Those that come at the same moment go to the database
 * together, each as his own caller; who he is and whether he may is read in the same statement as what he asks for.
 */
export function makeReader(db: Database): DeptReader {
  const paths = makePaths(db.opened);

  async function answer(tenantId: string, asked: Reading[]): Promise<void> {
    const tokens = [...new Set(asked.map(({ ask }) => ask.token))];
    const deptIds = asked.map(({ ask }) => ask.deptId);
    const { callers, stamp, departments } = await db.use((sql) =>
      readWithCallers<CallerRow>(sql, tenantId, tokens, deptIds),
    );
    const named = new Map(tokens.map((token, n) => [token, callerOr(callers[n], token, 'user')]));
    const known = paths.known(tenantId, stamp);
    const found = new Map(departments.map((dept) => [dept[0], dept]));
    const left: Reading[] = [];
    for (const each of asked) {
      const { ask, resolve, reject } = each;
      const caller = named.get(ask.token);
      const dept = found.get(Number(ask.deptId));
      const ancestors = dept && ancestorsOf(known, dept[1], dept[2]);
      if (caller instanceof Refusal) reject(caller);
      else if (!dept || (dept[9] !== '0' && !ask.includeDeleted)) resolve(undefined);
      else if (ancestors === undefined) left.push(each);
      else resolve(showFound(tenantId, ancestors, dept));
    }
    if (left.length > 0) await walk(tenantId, left);
  }

  /** Whose paths are not known: read once more, with the paths, in one snapshot; and who asks, who may be shut out by now. */
  async function walk(tenantId: string, asked: Reading[]): Promise<void> {
    const asks = asked.map(({ ask }) => ask);
    const tokens = [...new Set(asks.map(({ token }) => token))];
    const [callers, found] = await readInTenant(db, tenantId, (tx) =>
      Promise.all([nameCallers(tx, tenantId, tokens, 'user'), readWithPaths(tx, paths, tenantId, asks)]),
    );
    for (const [n, { ask, resolve, reject }] of asked.entries()) {
      const caller = callers[tokens.indexOf(ask.token)];
      if (caller instanceof Refusal) reject(caller);
      else resolve(found[n]);
    }
  }

  // While one is told, the next is asked. Not more: the fewer go at once, the more go together.
  const together = gather(answer, { underWay: 2, together: 500 });
  return (token, ask) => together(token.tenantId, { token, ...ask });
}
