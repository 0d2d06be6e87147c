import type { Tx } from '../../db/driver.ts';
import { userKey } from '../auth/user-key.ts';
import type { DepartmentNames } from './departments.ts';
import { RANKS, type Rank, rankName, rankPhone } from './match.ts';
import type { Dictionary } from './pinyin.ts';
import { findUserByName, findUsers, readUsers, type UserRow } from './queries.ts';
import type { Query, Word } from './query.ts';
import { MAX_CANDIDATES, type RankedHit, rankRows } from './ranking.ts';

/** Finds users by name, user name and phone number; further words may match the path of their department. */
export async function searchUsers(
  tx: Tx,
  tenantId: string,
  dictionary: Dictionary,
  names: DepartmentNames,
  query: Query,
  limit: number,
): Promise<RankedHit[]> {
  const { words } = query;
  const whole = words.length > 1 ? [{ wholeNames: [query.text] }] : [];
  const parts = [...whole, ...words.flatMap((word) => [...word.exactParts, ...word.parts])];
  const [found, byKey] = await Promise.all([
    findUsers(tx, parts, MAX_CANDIDATES),
    findUserByName(tx, tenantId, userKey(query.text)),
  ]);
  const ids = new Set([...(query.id === undefined ? [] : [query.id]), ...byKey, ...found]);
  const rows = (await readUsers(tx, tenantId, [...ids])).map((row) => ({ ...row, name: nameOf(row) }));
  if (words.length > 1) await readPaths(names, rows);
  const best = await rankRows(
    query,
    rows,
    {
      rankOwn: (row, word) => rankUser(dictionary, row, word),
      ...(words.length > 1 ? { isBelow: (row: UserRow, word: Word) => isInSubtree(names, row, word) } : {}),
    },
    limit,
  );
  await readPaths(
    names,
    best.map(({ row }) => row),
  );
  return best.map(({ row, rank }) => {
    const dept = names.get(row.deptId);
    return {
      rank,
      hit: {
        ...{ kind: 'user', id: row.id, name: nameOf(row), status: row.status },
        path: dept ? [...names.pathOf(dept), dept.name] : [],
        matched: rank === RANKS.id ? 'id' : isFoundByPhone(dictionary, row, query) ? 'phone' : 'name',
        ...{ code: row.userName, phone: row.phone, position: row.position },
      },
    };
  });
}

const nameOf = ({ nickName, userName }: UserRow): string => nickName || userName;

const rankUser = (dictionary: Dictionary, row: UserRow, word: Word): Rank | undefined =>
  bestOf(
    rankName(dictionary, nameOf(row), word.text),
    rankName(dictionary, row.userName, word.text),
    row.phone && word.phone ? rankPhone(row.phone, word.phone) : undefined,
  );

const isFoundByPhone = (dictionary: Dictionary, row: UserRow, { words }: Query): boolean =>
  words.some((word) => word.phone !== undefined && rankUser(dictionary, { ...row, phone: null }, word) === undefined);

export const bestOf = (...ranks: (Rank | undefined)[]): Rank | undefined =>
  ranks.reduce((best, rank) => (best === undefined || (rank !== undefined && rank < best) ? rank : best), undefined);

async function readPaths(names: DepartmentNames, rows: UserRow[]): Promise<void> {
  const deptIds = rows.flatMap(({ deptId }) => deptId ?? []);
  await names.read(deptIds);
  await names.readAncestors(deptIds.flatMap((id) => names.get(id) ?? []));
}

function isInSubtree(names: DepartmentNames, { deptId }: UserRow, word: Word): boolean {
  const dept = names.get(deptId);
  return dept !== undefined && (names.rank(dept, word) !== undefined || names.isBelow(dept, word));
}
