import type { Tx } from '../../db/driver.ts';
import { RANKS, type Rank, rankName } from './match.ts';
import type { Dictionary } from './pinyin.ts';
import {
  type DeptRow,
  findDepartments,
  readDepartments,
  readDepartmentsNamed,
  readDescendants,
  readFirstDepartments,
} from './queries.ts';
import type { Query, Word } from './query.ts';
import { MAX_CANDIDATES, type RankedHit, rankRows } from './ranking.ts';

/**
 * A word is common if it matches at least `COMMON_IN_SAMPLE` of the `SAMPLE` departments that were created first. The index is
 * then searched only for names whose whole pinyin is the word.
 */
const SAMPLE = 300;
const COMMON_IN_SAMPLE = 12;
/** How many departments are read whose name begins with the query, and as many for each of its words. */
const MAX_NAMED = 50;
/** How many matches of rare words are read with their descendants, and how many descendants in all. */
const MAX_ROOTS = 100;
const MAX_DESCENDANTS = 1_000;
/** How many ancestors of a department are read and compared with the words, and how many are returned. */
const MAX_LEVELS = 64;

/** Reads departments, each once, and compares their names with words. */
export class DepartmentNames {
  readonly #tx: Tx;
  readonly #tenantId: string;
  readonly #dictionary: Dictionary;
  readonly #rows = new Map<string, DeptRow | undefined>();
  readonly #ranks = new Map<Word, Map<string, Rank | undefined>>();
  readonly #below = new Map<Word, Map<string, boolean>>();

  constructor(tx: Tx, tenantId: string, dictionary: Dictionary) {
    this.#tx = tx;
    this.#tenantId = tenantId;
    this.#dictionary = dictionary;
  }

  add(rows: readonly DeptRow[]): void {
    for (const row of rows) this.#rows.set(row.id, row);
  }

  async read(ids: Iterable<string>): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.#rows.has(id));
    if (unknown.length === 0) return;
    for (const id of unknown) this.#rows.set(id, undefined);
    this.add(await readDepartments(this.#tx, this.#tenantId, unknown));
  }

  /** Reads the ancestors of these departments, level by level: most of them share theirs. */
  async readAncestors(rows: Iterable<DeptRow>): Promise<void> {
    let parents = parentIds(rows);
    for (let level = 0; parents.length > 0 && level < MAX_LEVELS; level++) {
      await this.read(parents);
      parents = parentIds(parents.flatMap((id) => this.#rows.get(id) ?? []));
    }
  }

  rows = (): DeptRow[] => [...this.#rows.values()].filter((row) => row !== undefined);
  get = (id: string | null): DeptRow | undefined => (id === null ? undefined : this.#rows.get(id));

  rank({ id, name }: DeptRow, word: Word): Rank | undefined {
    const known = resultsOf(this.#ranks, word);
    if (!known.has(id)) known.set(id, rankName(this.#dictionary, name, word.text));
    return known.get(id);
  }

  /** Returns the ancestors that have been read, the nearest first. */
  *ancestors(row: DeptRow): Generator<DeptRow> {
    let above = this.get(row.parentId);
    for (let level = 0; above && level < MAX_LEVELS; level++) {
      yield above;
      above = this.get(above.parentId);
    }
  }

  /** Whether an ancestor that has been read matches the word. The result is remembered for each of them: departments share theirs. */
  isBelow(row: DeptRow, word: Word): boolean {
    const known = resultsOf(this.#below, word);
    const passed: string[] = [];
    let result = false;
    for (let above = this.get(row.parentId); above && !result; above = this.get(above.parentId)) {
      const remembered = known.get(above.id);
      if (remembered !== undefined) {
        result = remembered;
        break;
      }
      passed.push(above.id);
      result = this.rank(above, word) !== undefined;
    }
    for (const id of passed) known.set(id, result);
    return result;
  }

  /** Returns the names above a department, from the top. */
  pathOf = (row: DeptRow): string[] => [...this.ancestors(row)].map(({ name }) => name).reverse();
}

/** Returns the remembered results for a word, by the id of the department. */
function resultsOf<T>(results: Map<Word, Map<string, T>>, word: Word): Map<string, T> {
  const ofWord = results.get(word) ?? new Map<string, T>();
  results.set(word, ofWord);
  return ofWord;
}

const parentIds = (rows: Iterable<DeptRow>): string[] => [
  ...new Set([...rows].flatMap(({ parentId }) => parentId ?? [])),
];

/** Finds departments by their names and those of their ancestors. */
export async function searchDepartments(
  tx: Tx,
  tenantId: string,
  names: DepartmentNames,
  query: Query,
  limit: number,
): Promise<RankedHit[]> {
  const { words } = query;
  const sample = await readFirstDepartments(tx, tenantId, SAMPLE);
  const texts = new Set([query.text, ...words.map(({ text }) => text)]);
  const named = await Promise.all([...texts].map((text) => readDepartmentsNamed(tx, tenantId, text, MAX_NAMED)));
  names.add([sample, ...named].flat());
  const found = await Promise.all(words.map((word) => findCandidates(tx, names, sample, word, limit)));
  const together = words.length > 1 ? await findDepartments(tx, [{ texts: words.map(({ text }) => text) }], limit) : [];
  await names.read([...found.flatMap(({ ids }) => ids), ...together, ...(query.id === undefined ? [] : [query.id])]);
  if (words.length > 1) {
    const rare = words.filter((_, n) => !found[n]?.isCommon);
    if (rare.length > 0 && rare.length < words.length) await readBelow(tx, tenantId, names, rare);
    await names.readAncestors(names.rows());
  }
  const best = await rankRows(
    query,
    names.rows(),
    {
      rankOwn: (row, word) => names.rank(row, word),
      ...(words.length > 1 ? { isBelow: (row: DeptRow, word: Word) => names.isBelow(row, word) } : {}),
    },
    limit,
  );
  await names.readAncestors(best.map(({ row }) => row));
  return best.map(({ row, rank }) => ({
    rank,
    hit: {
      ...{ kind: 'department', id: row.id, name: row.name, path: names.pathOf(row), status: row.status },
      ...{ matched: rank === RANKS.id ? 'id' : 'name', code: null, phone: null, position: null },
    },
  }));
}

/**
 * Returns candidates for one word. The index would have to collect all matches of a common word before it returns the first.
 * The matches in the sample, names that begin with the word, and names whose whole pinyin is the word have to suffice then.
 */
async function findCandidates(tx: Tx, names: DepartmentNames, sample: DeptRow[], word: Word, limit: number) {
  const ranks = sample.map((row) => names.rank(row, word));
  const isCommon = ranks.filter((rank) => rank !== undefined).length >= COMMON_IN_SAMPLE;
  const exactCount = ranks.filter((rank) => rank !== undefined && rank <= RANKS.exactPinyin).length;
  const parts = [...(exactCount < limit ? word.exactParts : []), ...(isCommon ? [] : word.parts)];
  // The index of departments has neither whole names nor phone numbers.
  const usable = parts.filter(({ wholeNames, phones }) => !wholeNames && !phones);
  const ids = usable.length > 0 ? await findDepartments(tx, usable, MAX_CANDIDATES) : [];
  return { ids, isCommon: isCommon || new Set(ids).size >= MAX_CANDIDATES };
}

/** Reads departments below those whose name matches one of these words. */
async function readBelow(tx: Tx, tenantId: string, names: DepartmentNames, words: Word[]): Promise<void> {
  const roots = names.rows().filter((row) => words.some((word) => names.rank(row, word) !== undefined));
  const ids = roots.slice(0, MAX_ROOTS).map(({ id }) => id);
  if (ids.length > 0) names.add(await readDescendants(tx, tenantId, ids, MAX_DESCENDANTS));
}
