import { createSlices } from '../http/slices.ts';
import { RANKS, type Rank, rankText } from './match.ts';
import type { Query, Word } from './query.ts';
import type { SearchHit } from './schema.ts';

/** How many candidates the index returns for each part of a query. If more match, only these are ranked. */
export const MAX_CANDIDATES = 500;

/** How one record matches a query. */
export interface Comparison {
  id: string;
  name: string;
  status: '0' | '1';
  /** Compares the record itself with a word. */
  rankOwn: (word: Word) => Rank | undefined;
  /** Whether something above the record matches the word. */
  isBelow?: (word: Word) => boolean;
}

interface Ranked<Row> {
  row: Row;
  rank: number;
  status: '0' | '1';
  nameLength: number;
}

/**
 * Returns the best matches. Each word has to match the record or something above it, and one of them the record itself. Equal
 * matches are in the order: enabled, shorter name, lower id.
 */
export async function rankRows<Row extends { id: string }>(
  query: Query,
  rows: Iterable<Row>,
  compare: (row: Row) => Comparison,
  limit: number,
): Promise<{ row: Row; rank: number }[]> {
  const pause = createSlices();
  const ranked: Ranked<Row>[] = [];
  for (const row of rows) {
    const comparison = compare(row);
    const rank = rankOf(query, comparison);
    if (rank !== undefined) ranked.push({ row, rank, status: comparison.status, nameLength: comparison.name.length });
    await pause();
  }
  return ranked
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(a.status) - Number(b.status) ||
        a.nameLength - b.nameLength ||
        Number(BigInt(a.row.id) - BigInt(b.row.id)),
    )
    .slice(0, limit);
}

function rankOf(query: Query, { id, name, rankOwn, isBelow }: Comparison): number | undefined {
  if (id === query.id) return RANKS.id;
  // A name may contain spaces itself.
  const whole = query.words.length > 1 ? rankText(name, query.text.toLowerCase()) : undefined;
  let total = 0;
  let isOwn = false;
  for (const word of query.words) {
    const rank = rankOwn(word);
    if (rank === undefined && !isBelow?.(word)) return whole;
    isOwn ||= rank !== undefined;
    total += rank ?? RANKS.elsewhere;
  }
  if (!isOwn) return whole;
  return whole === undefined ? total : Math.min(whole, total);
}

/** A hit and its rank, to sort hits of several kinds. */
export interface RankedHit {
  hit: SearchHit;
  rank: number;
}
