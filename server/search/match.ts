import { type Dictionary, isHan, isInitial } from './pinyin.ts';

/** How well a name matches a word, the best first. `anywhere`: within the name; `elsewhere`: in a name above it in its path. */
export const RANKS = {
  id: 0,
  exact: 1,
  exactPinyin: 2,
  prefix: 3,
  prefixPinyin: 4,
  anywhere: 5,
  anywherePinyin: 6,
  elsewhere: 7,
} as const;

export type Rank = (typeof RANKS)[keyof typeof RANKS];

/** Compares a name with a word in lower case. Returns undefined if it does not match. */
export function rankName(dictionary: Dictionary, name: string, word: string): Rank | undefined {
  return rankText(name, word) ?? rankPinyin(dictionary, name, word);
}

export function rankText(name: string, word: string): Rank | undefined {
  const at = name.toLowerCase().indexOf(word);
  if (at < 0) return undefined;
  if (at > 0) return RANKS.anywhere;
  return name.length === word.length ? RANKS.exact : RANKS.prefix;
}

export function rankPhone(phone: string, digits: string): Rank | undefined {
  return rankText(phone.replace(/\D/g, ''), digits);
}

/**
 * Reads Chinese characters as pinyin: whole syllables, first letters, or both, such as `liwj`. Other letters and digits stay as
 * they are; everything else is ignored.
 */
function rankPinyin(dictionary: Dictionary, name: string, word: string): Rank | undefined {
  if (!/[a-z]{2}/.test(word)) return undefined;
  const characters = [...name.toLowerCase()].filter((each) => isHan(each) || /[\p{L}\p{N}]/u.test(each));
  if (!characters.some(isHan)) return undefined;
  const readings = characters.map((each) => [each, ...dictionary.readingsOf(each)]);
  for (let from = 0; from < readings.length; from++) {
    // Most characters begin with another letter.
    if (!readings[from]?.some((each) => each[0] === word[0])) continue;
    const end = readFrom(readings, word, from);
    if (end === undefined) continue;
    if (from > 0) return RANKS.anywherePinyin;
    return end.isWhole && end.at === readings.length ? RANKS.exactPinyin : RANKS.prefixPinyin;
  }
  return undefined;
}

/** Where a match ends. `isWhole`: it ends with a whole syllable or with the initial of one, not in the middle. */
interface End {
  at: number;
  isWhole: boolean;
}

/** Finds out whether a word is a reading of the characters from a given one on, and returns where it ends. */
function readFrom(readings: string[][], word: string, from: number): End | undefined {
  const tried = new Set<number>();
  const visit = (at: number, index: number): End | undefined => {
    if (at === word.length) return { at: index, isWhole: true };
    const state = index * (word.length + 1) + at;
    if (index === readings.length || tried.has(state)) return undefined;
    tried.add(state);
    let partial: End | undefined;
    for (const reading of readings[index] as string[]) {
      for (const length of lengthsOf(reading)) {
        if (!word.startsWith(reading.slice(0, length), at)) continue;
        const end = visit(at + length, index + 1);
        if (end?.isWhole) return end;
        partial ??= end;
      }
      if (reading.startsWith(word.slice(at))) partial ??= { at: index + 1, isWhole: false };
    }
    return partial;
  };
  return visit(0, from);
}

/** How many letters of a syllable may stand for it: all, the first, or two if these are zh, ch or sh. */
const lengthsOf = (reading: string): number[] =>
  [reading.length, 2, 1].filter(
    (length, n) => n === 0 || (length < reading.length && isInitial(reading.slice(0, length))),
  );
