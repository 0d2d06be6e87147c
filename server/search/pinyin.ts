/** The first and the last character that the dictionary has. */
const FIRST = 0x4e00;
const LAST = 0x9fff;
const SETS_AT = 2 * (LAST - FIRST + 1);
const READINGS_PER_SET = 3;

/** The readings of Chinese characters, without tones. */
export interface Dictionary {
  /** Returns all readings of a Chinese character; none for any other character. */
  readingsOf(character: string): readonly string[];
  /** Returns the characters that can be read as a syllable. */
  charactersOf(syllable: string): readonly string[];
  /** Returns the number under which the index has a syllable; undefined if there is no such syllable. */
  numberOf(syllable: string): number | undefined;
  /** Returns the syllables that begin with these letters. */
  startingWith(letters: string): readonly string[];
}

/** Parses the bytes that the function `pinyin_readings` of the database returns, so both use the same dictionary. */
export function parseDictionary(bytes: Buffer): Dictionary {
  let setCount = 0;
  for (let at = 0; at < SETS_AT; at += 2) setCount = Math.max(setCount, bytes.readUInt16BE(at) - 32768 + 1);
  const syllables = bytes.toString('latin1', SETS_AT + 2 * READINGS_PER_SET * setCount).split(' ');
  const numbers = new Map(syllables.map((text, n) => [text, (text.charCodeAt(0) - 96) * 512 + n]));
  const readings = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => bytes.readUInt16BE(from + 2 * n)).flatMap((number) =>
      number === 0 ? [] : (syllables[number % 512] as string),
    );
  const beginnings = new Map<string, string[]>();
  for (const syllable of syllables) {
    for (let length = 1; length <= syllable.length; length++) {
      const letters = syllable.slice(0, length);
      beginnings.set(letters, [...(beginnings.get(letters) ?? []), syllable]);
    }
  }
  const parse = (code: number) => {
    const at = 2 * (code - FIRST);
    const set = bytes.readUInt16BE(at) - 32768;
    return set < 0 ? readings(at, 1) : readings(SETS_AT + 2 * READINGS_PER_SET * set, READINGS_PER_SET);
  };
  const parsed = new Map<number, readonly string[]>();
  let characters: Map<string, string[]> | undefined;
  const groupCharacters = () => {
    const groups = new Map(syllables.map((syllable): [string, string[]] => [syllable, []]));
    for (let code = FIRST; code <= LAST; code++)
      for (const syllable of parse(code)) groups.get(syllable)?.push(String.fromCodePoint(code));
    return groups;
  };
  return {
    readingsOf(character) {
      if (!isHan(character)) return [];
      const code = character.codePointAt(0) as number;
      const known = parsed.get(code) ?? parse(code);
      parsed.set(code, known);
      return known;
    },
    charactersOf(syllable) {
      characters ??= groupCharacters();
      return characters.get(syllable) ?? [];
    },
    numberOf: (syllable) => numbers.get(syllable),
    startingWith: (letters) => beginnings.get(letters) ?? [],
  };
}

/** Typed pinyin by character: a syllable, its first letter or letters, or at the end any beginning of a syllable. */
export type Segments = readonly string[];

/** How many ways to read typed letters are considered, those with the fewest characters: `xian` is 先 or 西安. */
const MAX_READINGS = 4;
const MAX_STEPS = 2_000;

/** Splits letters into segments, one per Chinese character, in all ways up to a limit. Returns none if they are not pinyin. */
export function segment(dictionary: Dictionary, letters: string): Segments[] {
  const found: string[][] = [];
  let steps = 0;
  const visit = (at: number, before: string[]) => {
    if (at === letters.length) found.push(before);
    for (let end = Math.min(letters.length, at + 6); end > at && steps < MAX_STEPS; end--) {
      steps++;
      const text = letters.slice(at, end);
      const isWhole = end < letters.length ? isSyllableOrInitial(dictionary, text) : true;
      if (isWhole && dictionary.startingWith(text).length > 0) visit(end, [...before, text]);
    }
  };
  visit(0, []);
  return found.sort((a, b) => a.length - b.length).slice(0, MAX_READINGS);
}

export const isInitial = (text: string): boolean => text.length === 1 || /^[zcs]h$/.test(text);

const isSyllableOrInitial = (dictionary: Dictionary, text: string) =>
  isInitial(text) || dictionary.numberOf(text) !== undefined;

export const isHan = (character: string): boolean => {
  const code = character.codePointAt(0) as number;
  return code >= FIRST && code <= LAST;
};
