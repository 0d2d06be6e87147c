import { createSlices } from '../http/slices.ts';
import { RANKS, type Rank, rankText } from './match.ts';
import type { Query, Word } from './query.ts';
import type { SearchHit } from './schema.ts';

/** How many candidates the index returns for each part of a query. If more match, only these are ranked. */
export const MAX_CANDIDATES = 500;

interface Rankable {
  id: string;
  name: string;
  status: '0' | '1';
}

/** How records of one kind match a query. */
interface Comparison<Row> {
  /** Whether the query is the code of a record: that ranks like its id. */
  hasCode?: (row: Row) => boolean;
  /** Compares a record itself with a word. */
  rankOwn: (row: Row, word: Word) => Rank | undefined;
  /** Whether something above a record matches the word. */
  isBelow?: (row: Row, word: Word) => boolean;
}

/**
 * Returns the best matches. Each word has to match the record or something above it, and one of them the record itself. Equal
 * matches are in the order: enabled, shorter name, lower id.
 */
export async function rankRows<Row extends Rankable>(
  query: Query,
  rows: Iterable<Row>,
  comparison: Comparison<Row>,
  limit: number,
): Promise<{ row: Row; rank: number }[]> {
  const pause = createSlices();
  const ranked: { row: Row; rank: number }[] = [];
  for (const row of rows) {
    const rank = rankOf(query, row, comparison);
    if (rank !== undefined) ranked.push({ row, rank });
    await pause();
  }
  return ranked
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(a.row.status) - Number(b.row.status) ||
        a.row.name.length - b.row.name.length ||
        Number(BigInt(a.row.id) - BigInt(b.row.id)),
    )
    .slice(0, limit);
}

function rankOf<Row extends Rankable>(
  query: Query,
  row: Row,
  { hasCode, rankOwn, isBelow }: Comparison<Row>,
): number | undefined {
  if (row.id === query.id || hasCode?.(row)) return RANKS.id;
  // A name may contain spaces itself.
  const whole = query.words.length > 1 ? rankText(row.name, query.text.toLowerCase()) : undefined;
  let total = 0;
  let isOwn = false;
  for (const word of query.words) {
    const rank = rankOwn(row, word);
    if (rank === undefined && !isBelow?.(row, word)) return whole;
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
