import { type Dictionary, isInitial, type Segments, segment } from './pinyin.ts';

/** Terms that the search index has, see search_query_terms.sql. */
export interface Terms {
  texts?: string[];
  /** Texts of two characters each. */
  pairs?: string[];
  phones?: string[];
  pinyin?: string[];
  wholeNames?: string[];
}

/** A record is a candidate if it has all of these terms, and one of those in `anyOf`. */
export interface Part extends Terms {
  anyOf?: Terms;
}

export interface Word {
  /** In lower case. */
  text: string;
  /** The digits, if the word may be part of a phone number. */
  phone: string | undefined;
  parts: Part[];
  /** Finds names that equal the word, in characters or in pinyin. */
  exactParts: Part[];
}

export interface Query {
  /** The whole query, with single spaces. */
  text: string;
  words: Word[];
  /** The query as an id. */
  id: string | undefined;
}

const MAX_WORDS = 6;
/** Shorter parts of phone numbers are not in the index. */
const MIN_PHONE_DIGITS = 4;

/** Splits what a caller typed into words. Spaces in a phone number do not separate words. */
export function parseQuery(dictionary: Dictionary, typed: string): Query {
  const text = typed.trim().replace(/\s+/g, ' ');
  const phone = phoneOf(text);
  const texts = phone === undefined ? text.split(' ').filter(Boolean) : [text];
  const words = [...new Set(texts)].slice(0, MAX_WORDS);
  return {
    text,
    words: words.map((each) => {
      const word = wordOf(dictionary, each, phone ?? phoneOf(each));
      // Among several words, an exact name is no better candidate than others.
      return words.length > 1 ? { ...word, exactParts: [] } : word;
    }),
    id: /^\d{1,19}$/.test(text) ? BigInt(text).toString() : undefined,
  };
}

function phoneOf(text: string): string | undefined {
  if (!/^\+?[\d\s().-]+$/.test(text)) return undefined;
  const digits = text.replace(/\D/g, '');
  // People paste numbers with their country code and store them without it.
  const national = /^(?:\+|00)86/.test(text) ? digits.replace(/^(?:00)?86/, '') : digits;
  return national.length >= MIN_PHONE_DIGITS ? national : undefined;
}

function wordOf(dictionary: Dictionary, typed: string, phone: string | undefined): Word {
  const text = typed.toLowerCase();
  const parts: Part[] = [{ texts: [text] }];
  const exactParts: Part[] = [{ wholeNames: [text] }];
  if (phone !== undefined) parts.push({ phones: [phone] });
  // A single letter would find every character with this first letter.
  const letters = text.match(/[a-z]{2,}/g) ?? [];
  if (letters[0] === text) {
    const readings = segment(dictionary, text);
    parts.push(...readings.map((segments) => termsOf(dictionary, segments)));
    const initials = new Set(readings.map((segments) => segments.map((each) => each[0]).join('')));
    exactParts.push(...[...initials].map((each) => ({ pinyin: [`=${each}`] })));
  } else {
    // Pinyin along with Chinese characters or digits: `李wj`, `yf1b`.
    const texts = text.match(/\p{Script=Han}+|\d+/gu) ?? [];
    const runs = letters.map((each) => segment(dictionary, each));
    const pinyinOf = (segments: Segments | undefined) => (segments && termsOf(dictionary, segments).pinyin) ?? [];
    const [first = [], ...further] = runs;
    const pinyin = further.flatMap(([segments]) => pinyinOf(segments));
    const next = /^.*?[a-z]{2,}(\p{Script=Han}|\d)?/u.exec(text)?.[1];
    const withPairs = (next === undefined ? [] : first).map((segments) => ({
      ...{ texts, pinyin: [...pinyinOf(segments), ...pinyin] },
      anyOf: { pairs: pairsOf(dictionary, segments, next as string) },
    }));
    const possible = withPairs.filter(({ anyOf }) => anyOf.pairs.length > 0);
    const all = [...pinyinOf(first[0]), ...pinyin];
    // The part without pairs would find more records, but none that matches: what was typed is compared without gaps.
    if (possible.length > 0) parts.push(...possible);
    else if (letters.length > 0 && texts.length + all.length > 0) parts.push({ texts, pinyin: all });
  }
  return { text, phone, parts, exactParts };
}

/**
 * Returns the pairs of characters that the last segment and the character after it can stand for: in `zhuangpei0`, a character
 * that is read as `pei`, and `0`. Without them, all names with these syllables and a 0 anywhere are candidates: perhaps too many.
 */
function pairsOf(dictionary: Dictionary, segments: Segments, next: string): string[] {
  const last = segments.at(-1) as string;
  const syllables = isInitial(last) ? dictionary.startingWith(last) : [last];
  const characters = new Set(syllables.flatMap((syllable) => dictionary.charactersOf(syllable)));
  return [...characters].map((character) => character + next);
}

/** The last segment may be the beginning of several syllables. Each other one is a syllable or its first letters. */
function termsOf(dictionary: Dictionary, segments: Segments): Part {
  const last = segments.at(-1) as string;
  const completions = segments.length > 0 ? dictionary.startingWith(last) : [];
  if (segments.length === 1) return { anyOf: { pinyin: completions.map((each) => `${dictionary.numberOf(each)}`) } };
  const syllables = [...segments.slice(0, -1), ...(completions.length === 1 ? completions : [])];
  const numbers = syllables.flatMap((each) => (each.length > 1 ? (dictionary.numberOf(each) ?? []) : []));
  const pairs = segments.slice(1).map((each, n) => `${segments[n]?.[0]}${each[0]}`);
  return { pinyin: [...numbers.map(String), ...pairs] };
}
