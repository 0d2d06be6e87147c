import fc from 'fast-check';
import type { CallerName, State, Tenant } from './state.ts';

/** Weighted choices of the callers and records of random requests. All shrink to their first alternative. */

export const weighted = <T>(...choices: [weight: number, choice: T][]): fc.Arbitrary<T> =>
  fc.oneof(
    { withCrossShrink: true },
    ...choices.map(([weight, choice]) => ({ weight, arbitrary: fc.constant(choice) })),
  );

export const sometimes = <T>(percent: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
    { weight: percent, arbitrary },
  );

/** Objects with some of these fields. */
export const partial = <V>(fields: Record<string, fc.Arbitrary<V>>): fc.Arbitrary<Record<string, V>> =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Record<string, V>>;

const callers = (...first: [number, CallerName][]) =>
  weighted<CallerName>(
    ...first,
    [8, 'member'],
    [12, 'child'],
    [6, 'sibling'],
    [10, 'guest'],
    [2, 'nobody'],
    [1, 'forger'],
  );
export const someCaller = callers([40, 'boss'], [16, 'above']);
/** Callers, with more of those that have child tenants. */
export const someManager = callers([40, 'above'], [30, 'boss']);

/**
 * Where a record comes from: any existing record of the tenant, one with nothing below it, a deleted one, one of another
 * tenant, an unknown id, or the record of the caller.
 */
type Source = 'live' | 'leaf' | 'deleted' | 'foreign' | 'absent' | 'own';
export interface Choice {
  from: Source;
  n: number;
}
const choiceOf = (...weights: [number, Source][]) => fc.record({ from: weighted(...weights), n: fc.nat(11) });
export const someDept = choiceOf([14, 'live'], [4, 'leaf'], [2, 'deleted'], [1, 'foreign'], [1, 'absent']);
export const someUser = choiceOf([14, 'live'], [2, 'deleted'], [1, 'foreign'], [1, 'absent'], [1, 'own']);
export const someTenant = choiceOf(
  [12, 'live'],
  [3, 'leaf'],
  [2, 'deleted'],
  [2, 'foreign'],
  [1, 'absent'],
  [3, 'own'],
);

const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length];
const absent = (n: number) => pick(['9007199254740991', '1', '0'], n) as string;

/** The tenant of the caller, or that of `boss` for callers without a session. */
export const homeTenant = (state: State, caller: CallerName) =>
  (state.callers[caller] ?? state.callers.boss)?.tenantId as string;

export function deptOf(state: State, home: string, { from, n }: Choice): string {
  const live = state.deptsOf(home);
  const found = {
    live,
    own: live,
    leaf: live.filter((dept) => state.childrenOf(dept).length + state.membersOf(dept).length === 0),
    deleted: state.depts.filter((dept) => dept.deleted && dept.tenantId === home),
    foreign: state.depts.filter((dept) => !dept.deleted && dept.tenantId !== home),
    absent: [],
  }[from];
  return String(pick(found, n)?.deptId ?? absent(n));
}

export function userOf(state: State, home: string, { from, n }: Choice, caller: CallerName): string {
  const live = state.usersOf(home);
  const found = {
    live,
    leaf: live,
    own: state.users.filter((user) => user.userId === state.callers[caller]?.userId),
    deleted: state.users.filter((user) => user.deleted && user.tenantId === home),
    foreign: state.users.filter((user) => !user.deleted && user.tenantId !== home),
    absent: [],
  }[from];
  return String(pick(found, n)?.userId ?? absent(n));
}

export function tenantOf(state: State, home: string, { from, n }: Choice): Pick<Tenant, 'id' | 'tenantId'> {
  const live = state.tenants.filter(({ deleted }) => !deleted);
  const below = live.filter(({ tenantId }) => tenantId !== home && state.isInSubtree(tenantId, home));
  const own = live.filter(({ tenantId }) => tenantId === home);
  const found = {
    live: below.length > 0 ? below : own,
    leaf: below.filter(({ tenantId }) => !live.some(({ tenantParent }) => tenantParent === tenantId)),
    own,
    deleted: state.tenants.filter(({ deleted }) => deleted),
    foreign: live.filter(({ tenantId }) => !state.isInSubtree(tenantId, home)),
    absent: [],
  }[from];
  return pick(found, n) ?? { id: absent(n), tenantId: pick(['999999999', '123456789012'], n) as string };
}

export const someKey = sometimes(20, fc.constantFrom('k1', 'k2', 'k3'));

type Match = 'newest' | 'oldest' | 'other' | 'any' | 'listed' | undefined;
export const someMatch = weighted<Match>(
  [30, undefined],
  [12, 'newest'],
  [5, 'oldest'],
  [1, 'other'],
  [1, 'any'],
  [1, 'listed'],
);
/**
 * An If-Match header: `*`, an unknown ETag, the newest or oldest ETag that the service has returned for the record, if any, or a
 * list with the newest.
 */
export function ifMatchOf(state: State, path: string, match: Match): string | undefined {
  if (match === undefined) return undefined;
  if (match === 'any') return '*';
  if (match === 'other') return '"other"';
  const tags = state.tagsOf(path);
  const tag = match === 'oldest' ? tags[0] : tags.at(-1);
  return match === 'listed' && tag !== undefined ? `"other", ${tag}` : tag;
}
