import type { Tx } from '../../db/driver.ts';
import { canSeeTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { DepartmentNames, searchDepartments } from './departments.ts';
import { RANKS, rankName, rankPhone, rankText } from './match.ts';
import { type Dictionary, parseDictionary } from './pinyin.ts';
import { findTenants, readDictionary, readTenants, type TenantRow } from './queries.ts';
import { parseQuery, type Query, type Word } from './query.ts';
import { MAX_CANDIDATES, type RankedHit, rankRows } from './ranking.ts';
import type { SearchFilter, SearchHit } from './schema.ts';
import { bestOf, searchUsers } from './users.ts';

const KINDS = ['user', 'department', 'tenant'];

/** Returns a function that searches what a caller may read. The dictionary is read with the first search of the process. */
export function createSearch() {
  let dictionary: Dictionary | undefined;
  return async (tx: Tx, caller: Caller, { q, limit = 10 }: SearchFilter): Promise<SearchHit[]> => {
    dictionary ??= parseDictionary(await readDictionary(tx));
    const query = parseQuery(dictionary, q);
    if (query.words.length === 0) return [];
    const { tenantId, permissions } = caller;
    const names = new DepartmentNames(tx, tenantId, dictionary);
    const departments = await searchDepartments(tx, tenantId, names, query, limit);
    // Users come second: their departments may have been read for the first search.
    const users = permissions.has('user:read') ? await searchUsers(tx, tenantId, dictionary, names, query, limit) : [];
    const tenants = permissions.has('tenant:read') ? await searchTenants(tx, caller, dictionary, query, limit) : [];
    return [...users, ...departments, ...tenants]
      .sort((a, b) => a.rank - b.rank || KINDS.indexOf(a.hit.kind) - KINDS.indexOf(b.hit.kind))
      .map(({ hit }) => hit);
  };
}

/** Finds the caller's tenant and its descendants, by name, company, phone number, code and internal id. */
async function searchTenants(
  tx: Tx,
  caller: Caller,
  dictionary: Dictionary,
  query: Query,
  limit: number,
): Promise<RankedHit[]> {
  const parts = query.words.flatMap((word) => [...word.exactParts, ...word.parts]);
  const ids = new Set([
    ...(query.id === undefined ? [] : [query.id]),
    ...(await findTenants(tx, parts, MAX_CANDIDATES)),
  ]);
  const code = /^\d{6,18}$/.test(query.text) ? query.text : null;
  const rows = await readTenants(tx, caller.tenantId, [...ids], code);
  const best = await rankRows(
    query,
    rows.filter((row) => canSeeTenant(caller, row.tenantId)).map((row) => ({ ...row, name: nameOf(row) })),
    {
      hasCode: (row) => row.tenantId === query.text,
      rankOwn: (row, word) => rankTenant(dictionary, row, word),
      isBelow: (row, word) => row.path.some((name) => rankName(dictionary, name, word.text) !== undefined),
    },
    limit,
  );
  return best.map(({ row, rank }) => ({
    rank,
    hit: {
      ...{ kind: 'tenant', id: row.id, name: nameOf(row), path: row.path, status: row.status },
      matched: rank === RANKS.id ? 'id' : isFoundByPhone(dictionary, row, query) ? 'phone' : 'name',
      ...{ code: row.tenantId, phone: row.phone, position: null },
    },
  }));
}

const nameOf = ({ tenantName, companyName, tenantId }: TenantRow): string => tenantName || companyName || tenantId;

const rankTenant = (dictionary: Dictionary, row: TenantRow, word: Word) =>
  bestOf(
    rankName(dictionary, nameOf(row), word.text),
    row.companyName ? rankName(dictionary, row.companyName, word.text) : undefined,
    rankText(row.tenantId, word.text),
    row.phone && word.phone ? rankPhone(row.phone, word.phone) : undefined,
  );

const isFoundByPhone = (dictionary: Dictionary, row: TenantRow, { words }: Query): boolean =>
  words.some((word) => word.phone !== undefined && rankTenant(dictionary, { ...row, phone: null }, word) === undefined);
